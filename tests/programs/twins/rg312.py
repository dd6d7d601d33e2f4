"""Objectives of the programs that step another array than they read, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def rescaled(w: np.ndarray) -> float:
    x = np.linspace(0.0, 2.0, 9)
    return float(((w[0] + w[1] * x + w[2] * np.sin(2.0 * x) - np.exp(-x)) ** 2).sum())


def layers(a: np.ndarray, b: np.ndarray) -> float:
    x = np.array([1.0, -0.5, 0.7, 1.3])
    return float(((np.tanh(a * x + b * np.roll(x, -1)) - 0.4) ** 2).sum())


def own_tapes(a: np.ndarray, b: np.ndarray) -> float:
    x = np.array([0.2, 0.9, 1.4, 0.6])
    optical = a[0] * x + a[1] * np.sin(x) - np.exp(-x)
    acoustic = b[0] * x + b[1] * np.sin(x) - 0.3 * x**2
    return float((optical**2).sum() + (acoustic**2).sum())
