"""Objectives of the programs about overwrites inside a kernel, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def pruned_bars(area: np.ndarray) -> float:
    stress = np.array([0.4, 1.5, 2.2, 0.7]) / area
    return float((0.5 * stress**2 + 0.3 * area).sum())


def battery_struct(current: np.ndarray) -> float:
    charge = np.array([1.0, 0.8, 1.3])
    power = current[0] * charge**2
    return float((power**2 - (charge - 0.3 * power)).sum())


def torch_two_gauges(rain: np.ndarray) -> float:
    depth = rain * np.exp(-0.3 * rain**2)
    out = depth * np.roll(depth, -1)
    gauges = np.array([[0.5, 0.2, 0.4], [0.1, 0.6, 0.3]])
    return float(np.mean((out - gauges) ** 2))
