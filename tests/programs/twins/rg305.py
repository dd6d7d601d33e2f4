"""Objectives of the programs with a wrong seed, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def image_mean(kernel: np.ndarray) -> float:
    image = np.random.default_rng(9).uniform(0.0, 1.0, (6, 6)).astype(np.float32).astype(float)
    padded = np.pad(image, 1, mode="edge")
    cross = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return float(((kernel[0] * image + kernel[1] * cross - image.T) ** 2).mean())


def weighted_sum(p: np.ndarray) -> float:
    f = np.linspace(-1.0, 1.0, 15)
    target = 2.0 / (1.0 + ((f - 0.1) / 0.4) ** 2)
    return float(((p[0] / (1.0 + ((f - p[1]) / p[2]) ** 2) - target) ** 2).mean())
