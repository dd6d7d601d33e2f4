"""Objectives of the programs whose custom adjoint assigns, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def spring_pairs(rest: np.ndarray) -> float:
    left, right = np.array([1.0, 1.4, 0.7]), np.array([0.8, 1.1, 1.3])
    return float(((left - rest) ** 2 + 0.5 * (right - rest) ** 2 + 0.1 * rest**3).sum())


def drag_of_wind(wind: np.ndarray) -> float:
    w = wind.reshape(1, 3) - np.array([[0.2, 0.1, 0.0], [-0.3, 0.4, 0.1]])
    return float(((w**2).sum(axis=1) ** 1.5 * (w[:, 0] + 2.0)).sum())


def tank_levels(inflow: np.ndarray) -> float:
    coupling = np.array([[2.0, -0.5, 0.0], [-0.5, 1.5, -0.4], [0.0, -0.4, 1.2]])
    level = np.linalg.solve(coupling, inflow)
    return float(((level - 0.4) ** 2).sum() + 0.3 * (inflow**3).sum())
