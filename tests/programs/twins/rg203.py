"""Objectives of the programs whose loss is off the tape, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def score_outside(v: np.ndarray) -> float:
    place, speed = np.zeros(2), v.copy()
    for _ in range(10):
        speed = speed + 0.1 * (np.array([0.0, -1.0]) - 0.2 * np.linalg.norm(speed) * speed)
        place = place + 0.1 * speed
    return float(((place - np.array([1.0, 0.0])) ** 2).sum())


def copied_outside(a: np.ndarray) -> float:
    x = np.linspace(-1.0, 1.5, 7)
    return float((a[0] * x**2 + np.cos(a[1] * x)).sum())
