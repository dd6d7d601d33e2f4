"""Objectives of the programs that clear scratch memory off the tape, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def cloth_forces(k: np.ndarray) -> float:
    x = np.array([[0.0, 0.0, 0.0], [1.2, 0.4, 0.0], [2.0, -0.3, 0.2], [3.4, 0.1, 0.1]])
    for _ in range(5):
        d = np.diff(x, axis=0)
        pull = d * (k * (np.linalg.norm(d, axis=1) - 0.9))[:, None]
        force = np.zeros_like(x)
        force[:-1] += pull
        force[1:] -= pull
        x = x + 0.1 * force
    return float((x[:, 1] ** 2 + 0.2 * x[:, 0]).sum())


def histogram_refill(weight: np.ndarray) -> float:
    sample = np.random.default_rng(6).uniform(0.0, 0.999, (3, 6)).astype(np.float32)
    centres = (sample * np.float32(4.0)).astype(int) + 0.5
    return float(np.sin((centres * np.exp(weight)).sum(axis=1)).sum())
