"""Objectives of the programs whose selections send NaN back, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def dry_cells(water: np.ndarray) -> float:
    depth = water - np.array([0.2, 0.6, 0.3, 0.7])
    q = np.where(depth > 0.0, 1.7 * np.maximum(depth, 0.0) ** 1.5, 0.1 * depth)
    return float(((q - np.array([0.5, 0.1, 1.0, 0.0])) ** 2).sum())


def log_mean(hot: np.ndarray) -> float:
    cold, area = np.array([1.0, 2.0, 2.5]), np.array([0.5, 0.7, 0.2])
    near = np.abs(hot / cold - 1.0) < 1e-3
    x = np.where(near, 2.0, hot / cold)
    u = hot / cold - 1.0
    mean = np.where(near, cold * (1.0 + u / 2.0 - u**2 / 12.0), cold * (x - 1.0) / np.log(x))
    return float(((area * mean) ** 2).sum())
