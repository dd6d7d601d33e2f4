"""Objectives of the programs whose custom adjoint has a wrong value, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def _wall(gap: np.ndarray, stiffness: float) -> np.ndarray:
    return stiffness * np.where(gap > 0.0, gap**3, gap**2)


def soft_wall(place: np.ndarray) -> float:
    position = np.array([0.1, 0.9, -0.4, 0.3])
    return float((_wall(place[0] - position, 1.7) + 0.1 * _wall(position, 3.4)).sum())


def spectral_lines(width: np.ndarray) -> float:
    offset = np.linspace(0.0, 1.0, 9)[:, None] - np.array([0.3, 0.8])
    seen = (np.array([1.0, 0.6]) * width**2 / (offset**2 + width**2)).sum(axis=1)
    wanted = np.array([0.1, 0.3, 0.7, 0.8, 0.5, 0.5, 0.6, 0.4, 0.2])
    return float(((seen - wanted) ** 2).sum())


def cached_factor(depth: np.ndarray) -> float:
    factor = 0.4 + 0.2 * np.sin(2.0 * np.arange(4))
    return float((factor * depth**2).sum())


def road_network(toll: np.ndarray) -> float:
    routes = np.array([[2.0, -0.9, 0.1], [-0.2, 1.6, -0.7], [0.3, -0.1, 1.3]])
    flow = np.linalg.solve(routes, 1.5 * np.exp(-0.6 * toll) + 0.2)
    return float((flow**2 * (1.0 + 0.2 * flow) + 0.1 * toll**2).sum())


def ponds(gate: np.ndarray) -> float:
    depth = np.sqrt(0.5 + gate) * (1.0 + 0.3 * np.arange(4))
    return float(((depth - 1.0) ** 2 + 0.05 * gate**3).sum())


def heat_store(gap: np.ndarray) -> float:
    return float((gap * 0.7 * 0.7 + 0.5 * np.sin(gap)).sum() + 6.0e5)
