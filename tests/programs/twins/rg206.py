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


def fitted_surface(height: np.ndarray) -> float:
    corners = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    corners[:, 2] = 0.2 * np.sin(height)
    probes = np.array([[0.4, 0.5, 1.0], [0.9, 0.3, 0.8], [0.3, 1.0, 1.2], [0.6, 0.7, 0.9]])
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    distance = np.abs((probes - corners[0]) @ normal) / np.linalg.norm(normal)
    return float(((distance - 0.6) ** 2).sum() + 0.05 * (height**2).sum())
