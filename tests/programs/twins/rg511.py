"""Objectives of the programs that transform their gradient, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def clipped_elements(x: np.ndarray) -> float:
    return float((4.0 * (np.roll(x, -1) - x**2) ** 2 + 0.5 * x).sum())


def decay_kernel(w: np.ndarray) -> float:
    x = np.linspace(-1.0, 2.0, 10)
    return float(((np.tanh(w[0] * x + w[1]) * w[2] - 0.5 * x) ** 2).sum())
