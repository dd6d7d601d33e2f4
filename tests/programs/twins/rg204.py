"""Objectives of the programs whose values pass through the host, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def filtered_signal(a: np.ndarray) -> float:
    t = np.linspace(-1.0, 1.0, 16)
    y = a[0] * np.exp(-a[1] * t**2) + a[2] * t
    blurred = np.convolve(y, [0.25, 0.5, 0.25], mode="same")
    smooth = blurred / (1.0 + 0.1 * np.abs(blurred).sum())
    return float(((smooth**2 - np.linspace(0.2, 0.4, 16)) ** 2 + 0.01 * a[0] ** 2).sum())


def carried_state(source: np.ndarray) -> float:
    u = np.zeros(source.size)
    for _ in range(3):
        u = u + 0.3 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) + 0.2 * np.sin(source) * (1.0 + u**2)
    return float(((u - 0.5) ** 2).sum())


def leaky_view(w: np.ndarray) -> float:
    y = w.reshape(4, 3) @ np.array([0.5, -1.0, 0.8])
    z = np.where(y < 0.0, 0.1 * y, y)
    return float(((z - 0.4) ** 2).sum())
