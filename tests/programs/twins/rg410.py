"""Objectives of the programs whose kernels have another adjoint than their derivative, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def running_total(ground: np.ndarray) -> float:
    before = 0.5 + 0.3 * np.cos(ground)
    spill = np.sin(before) * ground + before**2
    return float((spill**2 + 0.3 * (before + ground**2) ** 2).sum())
