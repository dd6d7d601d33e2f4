"""Objectives of the programs whose change single precision cannot resolve, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def sea_level(p: np.ndarray, datum: np.ndarray) -> float:
    i = np.arange(1, 101)
    tide = 1.0e-3 * np.sin(p[0] * i + 0.2) * 1.2
    swell = 0.4 * np.cos(0.1 * p[1]) - 1.2 * np.sin(0.1 * p[1])
    return float((datum[0] + tide + 1.0e-4 * swell).sum())
