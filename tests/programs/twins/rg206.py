"""Objectives of the programs with built-ins that have no adjoint, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def folded_period(period: np.ndarray) -> float:
    t = np.array([0.4, 1.7, 2.9, 4.3, 5.6])
    y = np.array([0.9, 0.2, 0.5, -0.4, 0.3])
    return float(((np.sin(2.0 * np.fmod(t, period[0])) - y) ** 2).sum())


def fractional_cells(x: np.ndarray) -> float:
    cell = np.trunc(4.0 * x).astype(int)
    f = np.modf(4.0 * x)[0]
    table = np.array([0.0, 1.0, 0.3, -0.4, 0.8, 0.2])
    return float((((1.0 - f) * table[cell] + f * table[cell + 1]) ** 2).sum())
