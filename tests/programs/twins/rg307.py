"""Objectives of the programs over several tapes, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def satellite_windows(u: np.ndarray) -> float:
    p, v = np.array([1.0, 0.1, 0.0]), np.array([0.0, 0.9, 0.2])
    for _ in range(12):
        v = v + 0.1 * (u - p / np.linalg.norm(p) ** 3)
        p = p + 0.1 * v
    return float(((p - np.array([0.0, 1.2, 0.1])) ** 2).sum())


def encoder_decoder(w: np.ndarray) -> float:
    x = np.array([0.3, -0.6, 0.8, 0.5])
    code = np.tanh(w * x + w**2)
    return float(((w * code + 0.5 * code**2 - x) ** 2).sum())
