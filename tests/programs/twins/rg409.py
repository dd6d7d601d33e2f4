"""Objectives of the programs with singular points, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def aligned_spins(turn: np.ndarray) -> float:
    square = 2.0 - 2.0 * np.cos(np.diff(turn))
    return float((square * (1.0 + 0.3 * square)).sum())


def dose_response(exponent: np.ndarray) -> float:
    raised = (np.array([0.0, 0.5, 1.0, 2.0])[:, None] / 0.8) ** exponent
    seen = np.array([[0.0, 0.05], [0.3, 0.2], [0.6, 0.7], [0.8, 0.9]])
    return float(((raised / (1.0 + raised) - seen) ** 2).sum())
