"""Objectives of the programs that count a gradient twice, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def predictor(rate: np.ndarray) -> float:
    x = np.full(4, 0.3)
    for _ in range(3):
        x = x + 0.1 * rate * (np.sin(x) + 0.8)
    return float(((x - 1.0) ** 2).sum())


def pooled_gradients(w: np.ndarray) -> float:
    x = np.cos(np.arange(6))
    first = np.tanh(w * x + 0.2 * np.roll(x, -1))
    second = np.tanh(w * first + 0.2 * np.roll(first, -1))
    return float(((first * w + second - 0.5) ** 2).sum())


def regularised(m: np.ndarray) -> float:
    return float(((np.exp(0.5 * m) - 1.7) ** 2).sum() + 0.3 * (np.diff(m) ** 2).sum())


def called_twice(a: np.ndarray) -> float:
    return float(((a[0] * (1.0 - a[1] * np.cos(np.linspace(0.0, 3.0, 7))) - 1.2) ** 2).mean())


def torch_valley(xy: np.ndarray) -> float:
    x, y = xy.reshape(3, 2).T
    return float((((1.0 - x) ** 2 + 5.0 * (y - x * x) ** 2) ** 2).mean())
