"""Objectives of the programs that enter a tape again, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def leaf_area(k: np.ndarray) -> float:
    days = np.arange(8)
    seen = (3.0 / (1.0 + np.exp(2.0 - 0.6 * days))).astype(np.float32)
    area = k[0] / (1.0 + np.exp(k[1] - 0.6 * days))
    return float(0.1 * ((area - seen) ** 2).sum())


def tuner(gain: np.ndarray) -> float:
    y = np.tanh(gain * np.linspace(-1.0, 1.5, 5)) + 0.3 * np.roll(gain, -1)
    return float((y**2 + 0.5 * y).sum())
