"""Objectives of the programs that draw at random, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def dropout(w: np.ndarray, keep: np.ndarray) -> float:
    return float(((np.tanh(w * np.array([0.5, 1.0, -0.8, 1.4]) * keep) - 0.4) ** 2).sum())


def random_walk(pull: np.ndarray, noise: np.ndarray) -> float:
    x = noise.copy()
    for _ in range(3):
        x = x - 0.3 * pull[0] * np.sin(x) + pull[1]
    return float((x**2).mean())
