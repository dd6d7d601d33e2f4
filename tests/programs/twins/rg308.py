"""Objectives of the programs that tidy up on the tape, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def logged_loss(x: np.ndarray) -> float:
    y = 0.5 * x + 0.25 * (np.roll(x, -1) + np.roll(x, 1)) + 0.1 * x**2
    return float(((y - np.linspace(0.1, 0.9, 5)) ** 2).sum())


def reused_residual(k: np.ndarray) -> float:
    t = np.linspace(0.0, 2.5, 6)
    return float(((k[0] * np.exp(-k[1] * t) - np.exp(-0.7 * t)) ** 2).sum())
