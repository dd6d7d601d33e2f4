"""Objectives of the programs with two faults, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def overwrite_and_sum(r: np.ndarray) -> float:
    x = np.array([0.3, 0.55, 0.7], dtype=np.float32).astype(float)
    for _ in range(4):
        x = r * x * (1.0 - x)
    return float(((x - 0.6) ** 2).sum())


def cut_and_rescaled(w: np.ndarray) -> float:
    x = np.linspace(-1.0, 1.0, 8)
    return float(((w[1] * np.tanh(w[0] * x) + w[0] - np.sin(x)) ** 2).mean())


def rerun_segments(k: np.ndarray) -> float:
    x, v = np.array([0.6, -0.9, 0.4]), np.array([0.1, 0.3, -0.5])
    for _ in range(3):
        v = v - 0.3 * k * np.sin(x)
        x = x + 0.4 * v * np.cos(0.5 * k)
    return float(((x - 0.2) ** 2 + 0.5 * v**2).sum())
