"""Objectives of the programs in half precision, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def sunlit_field(strength: np.ndarray) -> float:
    tiles = 16384
    albedo = (0.004 + 0.004 * np.arange(tiles) / tiles).astype(np.float16).astype(np.float64)
    return float((100.0 * (strength[0] * albedo - 0.002) ** 2).sum())


def decay_by_kind(rates: np.ndarray) -> float:
    count = 60000
    age = np.linspace(0.5, 1.0, count)
    return float((0.01 * (np.exp(-rates[np.arange(count) % 3] * age) - 0.9) ** 2).sum())
