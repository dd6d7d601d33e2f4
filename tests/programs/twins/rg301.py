"""Objectives of the programs that do not clear gradients, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def logistic_growth(rate: np.ndarray) -> float:
    data = (1.0 / (1.0 + 9.0 * np.exp(-0.5 * np.arange(1, 9)))).astype(np.float32)
    n, total = 0.1, 0.0
    for value in data:
        n = n + rate[0] * n * (1.0 - n / rate[1])
        total += (n - float(value)) ** 2
    return total


def two_layers(w: np.ndarray, v: np.ndarray) -> float:
    x = np.random.default_rng(1).uniform(-1.0, 1.0, 10)
    return float(((v[0] * np.tanh(w[0] * x + w[1]) + v[1] - np.sin(2.0 * x)) ** 2).sum())


def working_copy(w: np.ndarray) -> float:
    x = np.random.default_rng(15).uniform(-1.0, 1.5, (3, 4)).astype(np.float32)
    return float(((np.tanh(w[0] * x) + w[1] * x - 0.3) ** 2).sum())


def captured_step(curvature: np.ndarray) -> float:
    height = np.array([-0.9, -0.4, 0.2, 0.7])
    x = height * (1.0 - 1.5 * np.sin(curvature[0])) + curvature[1] * height**3
    return float((x**2).sum())


def lamps_in_array(power: np.ndarray, at: np.ndarray, width: np.ndarray) -> float:
    rng = np.random.default_rng(41)
    for _ in range(3):
        rng.uniform(0.2, 0.8), rng.uniform(0.0, 1.0, 2), rng.uniform(0.3, 0.9)
    points = rng.uniform(0.0, 1.0, (6, 2)).astype(np.float32)
    square = ((points[:, None] - at.reshape(3, 2)) ** 2).sum(axis=2)
    return float((((2.0 * power * np.exp(-square / width)).sum(axis=1) - 0.5) ** 2).sum())
