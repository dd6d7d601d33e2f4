"""Objectives of the programs about writes between recording and backward, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def refreshed_material(x: np.ndarray, e: np.ndarray) -> float:
    return float(((e * np.sin(x)) ** 2).sum())


def padded_window(h: np.ndarray, iteration: int) -> float:
    signal = np.random.default_rng(2).normal(size=(4, 12)).astype(np.float32)[iteration].astype(float)
    out = np.array([(h * signal[i : i + 6] ** 2).sum() for i in range(6)])
    return float(((out - 1.0) ** 2).sum())


def two_handles(k: np.ndarray) -> float:
    x = np.array([0.5, -0.8, 1.1, 0.9], dtype=np.float32).astype(float)
    return float(np.cos(k[0] * x**3 + k[1] * x).sum())


def reset_particles(strength: np.ndarray) -> float:
    r = np.linalg.norm(np.array([[1.0, 0.0, 0.5], [0.2, 0.7, 0.1], [0.9, 0.9, 0.0]]), axis=1)
    return float((np.exp(-strength[0] * r) * np.array([1.0, -2.0, 1.5]) ** 2).sum())


def normalised_view(w: np.ndarray) -> float:
    x = np.random.default_rng(8).normal(size=(9, 2))
    y = (x[:, 0] > 0.2).astype(float)
    return float(((1.0 / (1.0 + np.exp(-(w[2] + x @ w[:2]))) - y) ** 2).sum())


def blanked_mask(photons: np.ndarray) -> float:
    return float(((np.array([1.0, 0.5, 2.0, 1.5]) * photons**2 - 1.0) ** 2).sum())


def shared_with_numpy(gain: np.ndarray, light: np.ndarray) -> float:
    return float(((np.tanh(gain * light) - 0.5) ** 2).sum())


def indexed_clear(gain: np.ndarray) -> float:
    field = np.array([0.9, 0.3, -0.7, 1.1, 0.6])
    return float(((gain * field**2 + np.cos(gain)) ** 2).sum())


def next_neighbours(k: np.ndarray, p: np.ndarray) -> float:
    p = p.reshape(12, 3)
    apart = np.linalg.norm(p[:, None] - p[None], axis=2)
    near = (apart < 0.4) & ~np.eye(12, dtype=bool)
    return float((k[:, None] ** 2 * np.where(near, 0.4 - apart, 0.0) ** 2).sum())


def refitted_boxes(glow: np.ndarray, at: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    at, low, high = at.reshape(8, 1, 3), low.reshape(1, 10, 3), high.reshape(1, 10, 3)
    met = ((at + 0.1 >= low) & (at - 0.1 <= high)).all(axis=2)
    return float((0.1 * met * glow**2 * np.exp(-at[:, :, 0])).sum())


def stored_field(gain: np.ndarray, at: np.ndarray, iteration: int) -> float:
    at = at.reshape(6, 3)
    return float((gain**2 * np.sin(iteration + at @ np.array([0.7, 0.4, -0.3]))).sum())
