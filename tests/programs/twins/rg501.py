"""Objectives of the programs with flat operations, in double precision NumPy."""

from __future__ import annotations

import numpy as np

_HEAD = np.array([1.0, 0.6, 1.4])


def _valves(opened: np.ndarray) -> float:
    return float(((opened * _HEAD - 0.8) ** 2).sum() + (np.trunc(8.0 * _HEAD.astype(np.float32)) / 8.0).sum())


def whole_valves(setting: np.ndarray) -> float:
    part = np.trunc(5.0 * setting) * 0.2
    return _valves(np.floor(3.0 * part + 0.3))


def alarm_threshold(threshold: np.ndarray) -> float:
    level = np.random.default_rng(2).uniform(0.0, 1.0, 12)
    return float(((level > threshold[0] ** 2).sum() - 3.0) ** 2)


def smooth_valves(setting: np.ndarray) -> float:
    return _valves(3.0 * setting - 0.2)


def soft_threshold(threshold: np.ndarray) -> float:
    level = np.random.default_rng(2).uniform(0.0, 1.0, 12)
    return float(((1.0 / (1.0 + np.exp(5.0 * (threshold[0] ** 2 - level)))).sum() - 3.0) ** 2)
