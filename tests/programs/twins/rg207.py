"""Objectives of the programs whose parameters travel as numbers, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def spring_struct(p: np.ndarray) -> float:
    places = np.arange(5.0)
    x, v = places * 0.9 + 0.2, np.zeros(5)
    for _ in range(6):
        force = -p[0] * (x - 1.1 * places) - p[1] * v - p[2] * v * np.abs(v)
        force[1:] -= p[0] * (np.diff(x) - 1.0)
        v = v + 0.1 * force
        x = x + 0.1 * v
    return float(((x - places) ** 2 + 0.01 * p[0] ** 2).sum())


def tuned_filter(c: np.ndarray) -> float:
    steps = np.arange(12.0)
    x = np.sin(steps)
    y = c[0] * x + np.tanh(c[0] * x**2)
    lag = steps[:, None] - steps[None, :]
    z = (np.where(lag >= 0.0, np.exp(-c[1] * np.abs(lag)), 0.0) * y).sum(axis=1)
    return float(((z - 0.5) ** 2).sum())


def gain_numbers(gains: np.ndarray) -> float:
    place, speed = np.array([0.4, -0.7, 1.1]), np.zeros(3)
    for _ in range(5):
        speed = speed - 0.2 * (gains[0] * place + gains[1] * speed)
        place = place + 0.2 * speed
    return float((place**2).sum())
