"""Objectives of the programs that assign a component twice, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def scattered_beam(angle: np.ndarray) -> float:
    aim = np.array([[1.0, 0.0, 0.0], [0.2, 0.4, 0.1], [0.0, 1.0, 0.0]])
    c, s = np.cos(angle), np.sin(angle)
    turned = c - 0.2 * s
    up = s * angle + c * turned
    d = np.stack([turned * up + 0.5 * s, up, np.full(3, -0.3)], axis=1)
    return float(((d - aim) ** 2).sum())


def thermal_block(g: np.ndarray) -> float:
    heat = 0.0
    for (a, b), t in zip(g.reshape(2, 2), np.array([[1.0, -0.4], [0.6, 0.9]]), strict=True):
        cross = np.sin(a)
        k = np.array([[a * a * (b + cross * b), cross], [cross * b, b + 0.5]])
        heat += t @ k @ t
    return float(heat)
