"""Objectives of the programs that look at gradients of intermediate arrays, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def hidden_layer(w: np.ndarray) -> float:
    return float(((np.tanh(w * np.linspace(0.5, 2.0, 5)) * w - 0.4) ** 2).sum())


def sensitivity(x0: np.ndarray) -> float:
    x = x0
    for _ in range(4):
        x = x + 0.2 * np.sin(x) * np.roll(x, -1)
    return float((x**2).sum())
