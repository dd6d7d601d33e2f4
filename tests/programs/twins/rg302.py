"""Objectives of the programs that use an earlier gradient, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def early_step(k: np.ndarray) -> float:
    x, v = 1.0, 0.0
    for _ in range(6):
        v = v - 0.3 * (k[0] * x + k[1] * v)
        x = x + 0.3 * v
    return float(x * x + 0.5 * v * v)


def lagged_read(p: np.ndarray) -> float:
    t = np.linspace(0.0, 2.0, 9)
    return float(((p[0] * np.exp(-p[1] * t) - 1.5 * np.exp(-0.9 * t)) ** 2).sum())
