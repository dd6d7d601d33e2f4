"""Objectives of the programs that do not clear gradients, in double precision NumPy."""

from __future__ import annotations

import numpy as np


def logistic_growth(rate: np.ndarray) -> float:
    data = (1.0 / (1.0 + 9.0 * np.exp(-0.5 * np.arange(1, 9)))).astype(np.float32)
    n, total = 0.1, 0.0
    for value in data:
        n = n + rate[0] * n * (1.0 - n / rate[1])
        total += (n - float(value)) ** 2
    return total


def two_layers(w: np.ndarray, v: np.ndarray) -> float:
    x = np.random.default_rng(1).uniform(-1.0, 1.0, 10)
    return float(((v[0] * np.tanh(w[0] * x + w[1]) + v[1] - np.sin(2.0 * x)) ** 2).sum())


def working_copy(w: np.ndarray) -> float:
    x = np.random.default_rng(15).uniform(-1.0, 1.5, (3, 4)).astype(np.float32)
    return float(((np.tanh(w[0] * x) + w[1] * x - 0.3) ** 2).sum())


def captured_step(curvature: np.ndarray) -> float:
    height = np.array([-0.9, -0.4, 0.2, 0.7])
    x = height * (1.0 - 1.5 * np.sin(curvature[0])) + curvature[1] * height**3
    return float((x**2).sum())


def lamps_in_array(power: np.ndarray, at: np.ndarray, width: np.ndarray) -> float:
    rng = np.random.default_rng(41)
    for _ in range(3):
        rng.uniform(0.2, 0.8), rng.uniform(0.0, 1.0, 2), rng.uniform(0.3, 0.9)
    points = rng.uniform(0.0, 1.0, (6, 2)).astype(np.float32)
    square = ((points[:, None] - at.reshape(3, 2)) ** 2).sum(axis=2)
    return float((((2.0 * power * np.exp(-square / width)).sum(axis=1) - 0.5) ** 2).sum())


def quaternions(rotation: np.ndarray, shear: np.ndarray) -> float:
    rng = np.random.default_rng(43)
    rng.normal(0.0, 1.0, (2, 4)), rng.normal(0.0, 0.2, (2, 3, 3))
    bone, goal = rng.normal(0.0, 1.0, (2, 3)), rng.normal(0.0, 1.0, (2, 3))
    total = 0.0
    for q, m, b, g in zip(rotation.reshape(2, 4), shear.reshape(2, 3, 3), bone, goal, strict=True):
        q, v = q / np.linalg.norm(q), m @ b
        turned = v + 2.0 * np.cross(q[:3], np.cross(q[:3], v) + q[3] * v)
        total += ((turned - g) ** 2).sum()
    return float(total)


def generic_kernels(single: np.ndarray, double: np.ndarray) -> float:
    x = np.array([0.5, -0.7, 1.1])
    return float(sum(((np.sin(a * x) + a) ** 2).sum() for a in (single, double)))


def half_precision(w: np.ndarray) -> float:
    return float(((np.sin(w * np.array([0.5, -0.75, 1.25, -1.5])) + w - 0.5) ** 2).sum())


def torch_reservoir(k: np.ndarray) -> float:
    store, total = 1.0, 0.0
    for observed in (0.35, 0.30, 0.28, 0.28, 0.29, 0.29):
        out = k[0] * store + k[1] * store**2
        total += (out - observed) ** 2
        store = store - out + 0.3
    return float(total)


def torch_forgets_zero(c: np.ndarray) -> float:
    angle, speed = 0.9, 0.0
    for _ in range(10):
        speed = speed - 0.1 * (c[0] * speed + c[1] * np.sin(angle))
        angle = angle + 0.1 * speed
    return float((angle - 0.2) ** 2)


def torch_sums_up(x: np.ndarray) -> float:
    return float((np.cosh(x) + 0.2 * x + 0.1 * x**2).sum())


def adjoint_by_hand(w: np.ndarray) -> float:
    x = np.linspace(-1.0, 1.0, 7).astype(np.float32).astype(float)
    return float(((np.exp(w[0] * x) + w[1] * x - 1.0 - 2.0 * x) ** 2).sum())


def torch_two_losses(x: np.ndarray) -> float:
    y = np.tanh(x) * np.roll(x, -1)
    return float(((y - 0.2) ** 2).sum() + 0.3 * (y**4).sum())
