"""Objectives of the programs at a kink, in double precision NumPy, on the side of Warp's branches."""

from __future__ import annotations

import numpy as np


def first_contact(gap: np.ndarray) -> float:
    depth = np.where(gap > 0.501, gap - 0.5, 0.0)
    return float((depth + 0.3 * gap**2).sum())


def worst_case(p: np.ndarray) -> float:
    losses = (p - 1.0) ** 2 + 0.1 * p[0] * p[1]
    return float(losses[int(np.argmax(losses + np.array([1e-3, 0.0, 0.0])))])


def advected_from_rest(velocity: np.ndarray) -> float:
    cells = velocity.size
    rng = np.random.default_rng(3)
    field = rng.uniform(0.5, 1.5, cells + 2).astype(np.float32).astype(float)
    target = (field[1:-1].astype(np.float32) + rng.uniform(-0.3, 0.3, cells).astype(np.float32)).astype(float)
    place = np.arange(1, cells + 1) - velocity
    left = np.floor(place + 1e-4).astype(int)
    weight = place - left
    carried = (1.0 - weight) * field[left] + weight * field[left + 1]
    return float(((carried - target) ** 2).sum())
