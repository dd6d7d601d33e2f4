"""Objectives of the programs with products in place, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def dye_dilution(flow: np.ndarray) -> float:
    return float(((np.array([1.0, 1.5]) ** 2 / np.prod(1.0 + flow) - 0.2) ** 2).sum())


def shaded_pixels(lamp: np.ndarray) -> float:
    rng = np.random.default_rng(4)
    normal, shade, photo = (rng.uniform(0.1, 0.9, (3, 4)) for _ in range(3))
    lit = np.exp(-(normal**2)) * lamp[0] + lamp[1]
    image = np.where(shade > 0.4, lit * (1.0 - shade * lamp[1]), lit)
    return float(((image - photo) ** 2).sum())
