"""Objectives of the programs with loops that Warp does not unroll, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def survival_rows(hazard: np.ndarray) -> float:
    visits = [[0, 1, 2], [3], [0, 1, 3, 2]]
    free = np.array([np.prod(1.0 - hazard[v]) for v in visits])
    return float(((free - np.array([0.3, 0.95, 0.1])) ** 2).sum())


def reflections(mirror: np.ndarray) -> float:
    loss = 0.0
    for m, left, seen in zip(mirror, (1.0, 1.4, 2.0), (0.2, 0.5, 0.7), strict=True):
        total, rounds = 0.0, 0
        while rounds < 40 and left >= 0.2:
            rounds += 1
            if rounds != 2:
                left = left * m * (1.0 - 0.05 * left)
                total += left * left
        loss += (np.sqrt(total * left) - seen) ** 2
    return float(loss)


def long_orbit(push: np.ndarray) -> float:
    p = np.stack([np.ones(3), 0.1 * np.arange(3)], axis=1)
    v = np.tile(push, (3, 1))
    for _ in range(150):
        r = 0.2 + (p**2).sum(axis=1, keepdims=True)
        v = v - 0.01 * p / r**2
        p = p + 0.01 * v
    return float(((p - np.array([-0.5, 0.7])) ** 2).sum())
