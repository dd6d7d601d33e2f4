"""Objectives of the programs about arrays without a gradient, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def optics(power: np.ndarray) -> float:
    height, angle = np.linspace(-0.5, 0.5, 5), np.full(5, 0.1)
    for lens in range(2):
        angle = angle - power[lens] * np.sin(height)
        height = height + 0.7 * angle
    return float((height**2).mean())


def plant_struct(share: np.ndarray) -> float:
    leaf, root = np.array([0.4, 0.6, 0.5]), np.array([0.3, 0.2, 0.5])
    s = 1.0 / (1.0 + np.exp(-share))
    for day in range(4):
        gain = (0.3 + 0.1 * day) * leaf * root / (0.5 + root)
        leaf, root = leaf + s * gain, root + (1.0 - s) * gain
    return float(-leaf.sum())


def late_flag(x: np.ndarray) -> float:
    stretch = np.sqrt(1.0 + np.diff(x) ** 2) - 0.8
    return float(((stretch + stretch**3) ** 2).sum())


def held_layers(w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray) -> float:
    x = np.array([0.5, -1.0, 0.8])
    for w, b, gain in ((w1, b1, 1.5), (w2, b2, 2.0)):
        x = gain * np.tanh(w.reshape(3, 3) @ x + b)
    return float(((x - 0.3) ** 2).sum())


def made_at_run_time(c: np.ndarray) -> float:
    x = np.array([-0.8, -0.1, 0.4, 0.9])
    line, cubic = np.sin(np.polyval(c[:2], x)), np.sin(np.polyval(c, x))
    return float(((line + cubic**2 - 0.5) ** 2).sum())
