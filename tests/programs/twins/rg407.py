"""Objectives of the programs with native functions, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def fast_decay(rate: np.ndarray) -> float:
    r, time = np.tile(rate, 2), np.array([0.2, 0.5, 0.9, 1.4])
    seen = np.array([0.8, 0.5, 0.7, 0.3])
    return float((((1.0 - 0.25 * r * time) ** 4 + 0.05 * r - seen) ** 2).sum())


def packed_rows(w: np.ndarray) -> float:
    table = np.linspace(0.2, 1.2, 6).reshape(3, 2)
    out = w[0] * table[:, 0] ** 2 + w[1] ** 2 * table[:, 1]
    return float((out**2).sum() + 3 * 0.1 * w[0] ** 2)
