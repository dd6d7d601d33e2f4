"""Objectives of the programs at a kink, in double precision NumPy, on the side of Warp's branches."""

from __future__ import annotations

import numpy as np


def first_contact(gap: np.ndarray) -> float:
    depth = np.where(gap > 0.501, gap - 0.5, 0.0)
    return float((depth + 0.3 * gap**2).sum())


def worst_case(p: np.ndarray) -> float:
    losses = (p - 1.0) ** 2 + 0.1 * p[0] * p[1]
    return float(losses[int(np.argmax(losses + np.array([1e-3, 0.0, 0.0])))])
