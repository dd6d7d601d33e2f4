"""Objectives of the programs that take indices from a counter, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def collisions(radius: np.ndarray) -> float:
    r = np.tile(radius, 3)
    depth = r - np.array([0.3, 0.9, 0.8, 0.2, 0.1, 0.4])
    found = (depth**2 * (1.0 + r))[depth > 0.0]
    return float((np.array([1.0, 0.5, 2.0, 0.3, 1.5, 1.0])[: found.size] * found).sum())


def spray(speed: np.ndarray) -> float:
    area = np.array([1.0, 0.5, 0.4, 0.8, 1.2])
    return float(((np.sin(0.5 * speed**2) * area) ** 2).sum())
