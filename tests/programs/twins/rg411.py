"""Objectives of the programs whose threads read what others write, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def smoothed_profile(power: np.ndarray) -> float:
    t = power**2 + 0.1 * power
    for i in range(1, 5):
        t[i] = 0.5 * t[i] + 0.25 * (t[i - 1] ** 2 + t[i + 1])
    return float(((t - np.array([0.8, 0.6, 0.7, 0.9, 0.6, 0.8])) ** 2).sum())


def traffic_lanes(gap: np.ndarray) -> float:
    loss = 0.0
    for g in gap:
        x = np.arange(4) * g + np.sin(g)
        for car in range(4):
            x[car] -= 0.2 * np.tanh(x[(car + 1) % 4] - x[car])
        loss += float((x**2 * np.arange(1, 5)).sum())
    return loss
