"""Objectives of the programs with unrecorded work, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def prepared_launch(power: np.ndarray) -> float:
    u = np.zeros(9)
    for _ in range(4):
        u = u + 0.2 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) + 0.1 * power**2
    return float(((u - 1.0) ** 2 + 0.05 * power).sum())


def weights_before(raw: np.ndarray) -> float:
    x = np.linspace(0.1, 1.2, 6)
    weight = np.exp(raw) / np.exp(raw).sum()
    y = weight[0] * np.sin(x) + weight[1] * x + weight[2] * x**2
    return float(((y - 0.4) ** 2 + 0.02 * raw[0] ** 2).sum())


def normed_beams(drive: np.ndarray) -> float:
    beam = drive + 0.3 * drive**2
    share = beam / (1.0 + (beam**2).sum())
    return float(((share - 0.2) ** 2 + 0.05 * np.cumsum(beam) ** 2).sum())


def rerun_by_command(k: np.ndarray) -> float:
    x, v = np.array([0.6, -0.9, 0.4]), np.array([0.1, 0.3, -0.5])
    for _ in range(3):
        v = v - 0.3 * k * np.sin(x)
        x = x + 0.4 * v * np.cos(0.5 * k)
    return float(((x - 0.2) ** 2 + 0.5 * v**2).sum())
