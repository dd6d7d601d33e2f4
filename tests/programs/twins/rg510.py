"""Objectives of the programs that report another number than their loss, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def epoch_counter(v: np.ndarray) -> float:
    t = np.linspace(0.0, 2.0, 8)
    return float(((v[0] * t + v[1] * t**2 - np.sin(t)) ** 2).sum())


def total_energy(q: np.ndarray) -> float:
    return float(((np.roll(q, -1) - np.sin(q)) ** 2 + 0.1 * q).sum())
