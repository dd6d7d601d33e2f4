"""Objectives of the right programs, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def reads_back(x: np.ndarray) -> float:
    a = np.sin(x)
    return float((np.cos(a * a + x) * a).sum())


def table_in_loop(x: np.ndarray) -> float:
    series = sum((0.5 * x) ** k for k in range(8))
    return float(((series - 1.5) ** 2).sum())


def overlapping_views(x: np.ndarray) -> float:
    bend = x[:-2] - 2.0 * x[1:-1] + x[2:]
    return float((bend**2 / (1.0 + x[1:-1] ** 2)).sum())


def in_place_sums(q: np.ndarray) -> float:
    field = 0.2 * q + np.sin(q) + np.roll(q**2, 1) - 0.5 * np.roll(q, 2)
    field[:2] += np.sin(q[2:])
    return float((field**2).sum())


def tent_orbit(r: np.ndarray) -> float:
    x = 0.31
    for _ in range(12):
        x = float(r[0]) * x * (1.0 - x)
    return x


def benign_reuse(x: np.ndarray) -> float:
    a = np.array([1.0, 0.5, 2.0]) * np.sin(x) + 0.1
    return float(((2.0 * (2.0 * a + 1.0) + 1.0) ** 2).sum())


def micro_batches(w: np.ndarray) -> float:
    x = np.random.default_rng(10).uniform(-1.0, 1.0, (3, 4)).astype(np.float32)
    return float(((w[0] * x + w[1] * x**2 - np.cos(x)) ** 2).mean())


def adam_by_hand(x: np.ndarray) -> float:
    return float((10.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


def several_losses(x: np.ndarray) -> float:
    fit = (np.exp(x) - np.array([1.0, 1.6, 2.2, 1.1])) ** 2
    return float(fit.sum() + 0.25 * (np.diff(x) ** 2).sum())


def hand_made_seed(c: np.ndarray) -> float:
    v = np.array([1.0, -0.4, 2.0])
    return float((c[0] * v**2 + c[1] ** 2 * v).sum())


def tiled_product(b: np.ndarray) -> float:
    inputs = np.random.default_rng(13).normal(0.0, 0.5, (4, 8)).astype(np.float32)
    return float(np.sin(inputs @ b.reshape(8, 4)).sum())


def recorded_launch(size: np.ndarray, light: np.ndarray) -> float:
    return float((np.log(1.0 + size**2) * light).sum())


def host_branches(k: np.ndarray, iteration: int) -> float:
    del iteration
    angle, speed = np.array([0.8, -1.1]), np.array([0.0, 0.2])
    count = 6 if k.max() > 2.0 else 3
    for _ in range(count):
        speed = speed - 0.9 / count * k * np.sin(angle)
        angle = angle + 0.9 / count * speed
    return float((angle**2 + speed**2).sum())


def program_clones(s: np.ndarray, p: np.ndarray) -> float:
    p = p.reshape(2, 3)
    first = _curve(p, s)
    second = _curve(first, s)
    return float((np.cross(p, second) * first).sum())


def _curve(a: np.ndarray, s: np.ndarray) -> np.ndarray:
    axis = np.stack([np.full(2, 0.2), s, np.full(2, 0.5)], axis=1)
    return np.cross(a, axis) + a * (a**2).sum(axis=1)[:, None]
