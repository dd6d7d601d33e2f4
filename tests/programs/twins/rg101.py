"""Objectives of the programs about overwritten inputs, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def gray_scott(feed: np.ndarray) -> float:
    rng = np.random.default_rng(5)
    u = rng.uniform(0.5, 1.0, (4, 5)).astype(np.float32).astype(float)
    v = rng.uniform(0.2, 0.6, (4, 5)).astype(np.float32).astype(float)
    for _ in range(6):
        rate = u * v * v
        u, v = (
            u + 0.16 * _laplacian(u) - rate + feed[0] * (1.0 - u),
            v + 0.08 * _laplacian(v) + rate - (feed[0] + feed[1]) * v,
        )
    return float(((v - 0.25) ** 2).sum())


def _laplacian(a: np.ndarray) -> np.ndarray:
    return sum(np.roll(a, shift, axis) for shift in (1, -1) for axis in (0, 1)) - 4.0 * a


def recurrent_cell(w: np.ndarray) -> float:
    rng = np.random.default_rng(11)
    rng.normal(0.0, 0.7, (3, 3))
    x = rng.normal(0.0, 0.5, (5, 3)).astype(np.float32)
    h = np.zeros(3)
    for row in x:
        h = np.tanh(w.reshape(3, 3) @ h + row)
    return float(((h - 0.5) ** 2).sum())


def wall_slice(k: np.ndarray) -> float:
    t = np.linspace(0.6, 1.9, 8)
    total = 0.0
    for step in range(3):
        new = t.copy()
        new[1:-1] = t[1:-1] + k[1:-1] * (0.5 * (t[2:] + t[:-2]) - t[1:-1]) * t[1:-1]
        total += (new**3).sum()
        new[:2] = 1.0 + 0.5 * step
        t = new
    return float(total + (t**3).sum())


def shared_pointer(mass: np.ndarray) -> float:
    p = np.array([[1.0, 0.2, 0.0], [-0.3, 1.1, 0.4]])
    for _ in range(2):
        r = np.linalg.norm(p, axis=1)
        p = p - 0.05 * p * (mass / r**3)[:, None]
    return float((p**2).sum())


def flock_struct(thrust: np.ndarray) -> float:
    h = np.array([[1.0, 0.5], [-0.4, 0.9], [0.3, -1.2]], dtype=np.float32).astype(float)
    place = np.zeros((3, 2))
    for _ in range(2):
        place = place + h * (thrust / np.sqrt(0.1 + (h**2).sum(axis=1)))[:, None]
        h = np.stack([0.5 * h[:, 1], -2.0 * h[:, 0]], axis=1)
    return float((place**2).sum())


def table_then_add(x: np.ndarray) -> float:
    table = np.cos(0.7 * x + 0.9)
    return float(((table + 0.8 * np.sin(1.5 * table)) ** 2).sum())


def nested_solver(s: np.ndarray) -> float:
    total = 0.0
    for _ in range(3):
        p = np.zeros(5)
        for _ in range(3):
            p = 0.25 * (np.roll(p, 1) + np.roll(p, -1)) + 0.3 * s - 0.1 * p**2
        s = s + 0.2 * p * (np.roll(s, -1) - s)
        total += float((s * p).sum())
    return total


def captured_pair(rate: np.ndarray) -> float:
    n = np.array([0.1, 0.2, 0.15])
    for _ in range(5):
        n = n + rate * n * (1.0 - n)
    return float(((n - 0.6) ** 2).sum())


def particle_structs(spring: np.ndarray) -> float:
    x = np.array([[1.0, 0.2], [-0.5, 0.8], [0.3, -1.1]])
    v = np.array([[0.0, 0.4], [0.6, 0.1], [-0.2, 0.5]])
    for _ in range(5):
        v = v - 0.2 * spring[:, None] * x * (1.0 + (x**2).sum(axis=1, keepdims=True))
        x = x + 0.2 * v
    return float((x**2).sum() + 0.5 * (v**2).sum())


def nested_structs(mass: np.ndarray) -> float:
    x, v = np.array([[1.0, 0.0], [0.2, -0.9]]), np.array([[0.0, 0.8], [0.9, 0.1]])
    for _ in range(6):
        v = v - 0.3 * x * (mass / (0.2 + (x**2).sum(axis=1)) ** 1.5)[:, None]
        x = x + 0.3 * v
    return float(((x - 0.5) ** 2).sum())


def closures(w: np.ndarray) -> float:
    z = w * np.array([0.5, 1.4, -0.8])
    h = 2.0 * z / (1.0 + z * z)
    return float(((0.7 * np.log1p(np.exp(w * h))) ** 2).sum())


def tiled_layers(w: np.ndarray) -> float:
    rng = np.random.default_rng(46)
    rng.normal(0.0, 0.5, (4, 4))
    x, w = rng.normal(0.0, 0.8, (4, 4)), w.reshape(4, 4)
    return float((np.sin(w @ np.sin(w @ x)) ** 2).sum())


def columns(rate: np.ndarray) -> float:
    column, total = np.array([0.4, 0.9, 0.6]), 0.0
    for _ in range(3):
        column = column * np.exp(rate * column)
        total += float((column**2).sum())
    return total


def torch_diffusion(w: np.ndarray) -> float:
    d = 0.3 / (1.0 + np.exp(-(w[0] * np.linspace(-1.0, 1.0, 6) + w[1])))
    u = np.array([0.0, 0.0, 1.0, 2.0, 0.5, 0.0])
    for _ in range(4):
        left, right = u[[0, 0, 1, 2, 3, 4]], u[[1, 2, 3, 4, 5, 5]]
        u = u + d * (left - 2.0 * u + right) * (1.0 + 0.5 * u)
    return float(((u - np.array([0.2, 0.4, 0.7, 0.9, 0.7, 0.4])) ** 2).mean())


def one_grid(k: np.ndarray) -> float:
    p = np.random.default_rng(3).uniform(0.0, 1.0, (12, 3)) * [3.0, 1.0, 0.2]
    p = p.astype(np.float32).astype(float)
    i = np.arange(12)
    wind = np.stack([0.5 * np.sin(7.0 * i), 0.3 * np.cos(5.0 * i), np.zeros(12)], axis=1)
    for _ in range(3):
        apart = p[:, None] - p[None]
        gap = np.maximum(0.4 - np.linalg.norm(apart, axis=2), 0.0) * ~np.eye(12, dtype=bool)
        p = p + 4.0 * k[:, None] * (gap[:, :, None] ** 2 * apart).sum(axis=1) + wind
    return float((p**2).sum())
