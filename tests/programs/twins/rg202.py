"""Objectives of the programs with backward passes switched off, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def aquifer(k: np.ndarray) -> float:
    head = np.linspace(1.0, 0.0, k.size) ** 2
    face = 2.0 * k[:-1] * k[1:] / (k[:-1] + k[1:])
    for _ in range(6):
        flow = face * np.diff(head)
        following = head.copy()
        following[1:-1] += 0.2 * np.diff(flow) + 0.01 * k[1:-1]
        head = following
    return float(((head - np.linspace(1.0, 0.0, k.size)) ** 2).sum())


def lean_module(gain: np.ndarray) -> float:
    x = np.linspace(-1.0, 1.0, 6)
    y = np.tanh(gain[0] * x) + gain[1] * x**2
    return float(((y - np.linspace(-0.6, 0.9, 6)) ** 2 + 0.01 * gain[0] ** 2).sum())


def kept_buffers(rain: np.ndarray) -> float:
    river = 0.7 * np.sin(rain**2 + 0.2 * rain)
    return float(((river + 0.5 * rain) * (river - 0.3)).sum())


def receptors(s: np.ndarray) -> float:
    dilution = np.array([[0.7, 0.2, 0.0], [0.0, 0.9, 0.0], [0.3, 0.0, 0.5], [0.0, 0.0, 1.1]])
    return float(((dilution @ np.exp(s) - np.array([0.8, 1.0, 0.9, 0.7])) ** 2).sum())
