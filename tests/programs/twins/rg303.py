"""Objectives of the programs that clear gradients too early, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def cleared_first(c: np.ndarray) -> float:
    x, y = np.random.default_rng(4).uniform(-1.0, 1.0, (8, 2)).T
    return float(((c[0] + c[1] * x + c[2] * x * y - (1.0 - x + 0.5 * x * y)) ** 2).sum())


def view_under_reader(angle: np.ndarray) -> float:
    bend = np.diff(angle) - 0.3
    return float((np.arange(4, 0, -1) * np.cos(angle)).sum() + 2.0 * (bend**2).sum())


def cleared_step(u: np.ndarray) -> float:
    return float(((0.8 + u - 0.3 * u**2 - 1.3) ** 2).sum())
