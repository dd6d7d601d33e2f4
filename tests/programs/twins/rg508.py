"""Objectives of the programs whose overwrites do no harm, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def wave_pair(first: np.ndarray) -> float:
    place, speed = first.reshape(6, 2).T
    for _ in range(5):
        speed = speed + 0.2 * (np.roll(place, 1) + np.roll(place, -1) - 2.0 * place)
        place = place + 0.5 * speed
    return float((place**2 + speed**2).sum())


def same_values(depth: np.ndarray) -> float:
    table = np.array([0.5, 1.2, 0.8])
    return float((np.exp(-depth * table) * table).sum())
