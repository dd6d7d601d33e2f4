"""Objectives of the programs that split a horizon by hand, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def comet(pull: np.ndarray) -> float:
    x, v = np.array([1.0, 0.1]), np.array([-0.1, 0.9])
    for _ in range(15):
        v = v - 0.1 * pull[0] / np.linalg.norm(x) ** 3 * x - 0.02 * pull[1] * v
        x = x + 0.1 * v
    return float(((x - np.array([-0.4, 0.9])) ** 2).sum())


def tide(k: np.ndarray) -> float:
    h = np.array([0.3, 0.8, 0.5, 1.1])
    for _ in range(9):
        h = h + 0.2 * k * np.sin(h) - 0.1 * (np.roll(h, -1) - np.roll(h, 1)) * h
    return float(((h - 0.5) ** 2).sum())


def pendulum_carry(c: np.ndarray) -> float:
    q, p = np.array([0.6, -0.9]), np.array([0.1, 0.3])
    for _ in range(12):
        p = p - 0.15 * c[0] * np.sin(q) - 0.05 * c[1] * p
        q = q + 0.15 * p
    return float((q**2 + 0.5 * p**2).sum())
