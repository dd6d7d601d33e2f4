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


def clipped_descent(x: np.ndarray) -> float:
    return float((np.cosh(1.5 * x) + 0.3 * x).sum())


def line_search(x: np.ndarray) -> float:
    return float(((x**2 - 0.5 * np.sin(3.0 * x)) ** 2).sum())


def validation_between(w: np.ndarray) -> float:
    x = np.linspace(-1.0, 1.0, 6)
    return float(((w[0] * np.sin(w[1] * x) - 1.3 * np.sin(1.1 * x)) ** 2).sum())


def reset_tape(k: np.ndarray) -> float:
    k, p = k.reshape(2, 3), np.array([[1.0, 0.0, 0.2], [0.1, 1.2, -0.5]])
    q = p + 0.3 * np.cross(k, p) + 0.1 * np.cross(k, np.cross(k, p))
    return float(np.linalg.norm(q - np.array([0.5, 0.5, 0.0]), axis=1).sum())


def two_players(a: np.ndarray, b: np.ndarray, iteration: int) -> float:
    rng = np.random.default_rng(21)
    fake = a[0] + np.tanh(a[1] * rng.normal(size=5))
    real = rng.normal(1.0, 0.3, 5)
    gap = np.sin(b[0] * real) + b[1] * real - np.sin(b[0] * fake) - b[1] * fake
    return float(((-1.0) ** iteration * gap + 0.05 * (b**2).sum()).sum())


def own_adjoint(q: np.ndarray) -> float:
    matrix = np.array([[3.0, 0.5, 0.0], [0.5, 2.0, -0.4], [0.0, -0.4, 1.5]])
    u = np.linalg.solve(matrix, np.log1p(np.exp(q)) - 0.5)
    return float((u**2 + 0.1 * q**2).sum())


def neighbours(k: np.ndarray, p: np.ndarray) -> float:
    p = p.reshape(8, 3)
    total = 0.0
    for i in range(8):
        for j in range(8):
            d = float(np.linalg.norm(p[i] - p[j]))
            if i != j and d < 0.8:
                total += k[i] * (0.8 - d) ** 2 + 0.01 * k[i] ** 2
    return float(total)


def segments(u: np.ndarray) -> float:
    x = np.array([0.2, 1.4])
    for _ in range(12):
        x = x + 0.1 * (u - x**3)
    return float(((x - 0.8) ** 2).sum())


def checkpointed_orbit(k: np.ndarray) -> float:
    x, v = np.array([1.0, 0.4]), np.array([0.0, 0.9])
    for n in range(24):
        pull = -k * x * (1.0 + 0.1 * (n % 3))
        x, v = x + 0.05 * (v + 0.05 * pull), v + 0.05 * pull
    return float(((x - 0.3) ** 2).sum())


def captured_graph(k: np.ndarray) -> float:
    x = np.array([0.8, -0.5, 0.4])
    return float(((k * x + k**2 * x**2 - 1.0) ** 2).sum())


def rigid_chain(angle: np.ndarray) -> float:
    rotation, tip = np.eye(3), np.zeros(3)
    for axis, a in zip(([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]), angle, strict=True):
        x, y, z = axis
        skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        rotation = rotation @ (np.eye(3) + np.sin(a) * skew + (1.0 - np.cos(a)) * skew @ skew)
        tip = tip + rotation[:, 2]
    return float(((tip - 1.0) ** 2).sum())


def device_momentum_views(p: np.ndarray) -> float:
    rng = np.random.default_rng(18)
    rng.uniform(0.3, 1.0, (2, 4))
    x = rng.uniform(-1.0, 1.0, 4)
    return float(((np.tanh(p[:4] * x) * p[4:] - 0.3) ** 2).sum())


def scan_of_starts(x: np.ndarray) -> float:
    return float(((x**2 - 1.0) ** 2 + 0.2 * x).sum())


def reported_mean_of_sum(c: np.ndarray) -> float:
    t = np.linspace(0.0, 2.0, 10)
    return float(((c[0] + np.sin(c[1] * t) - 0.4 - np.sin(1.2 * t)) ** 2).sum())


def least_squares_scipy(x: np.ndarray) -> float:
    a, b = x[::2], x[1::2]
    return float(((a**2 + b - 11.0) ** 2 + (a + b**2 - 7.0) ** 2).sum())


def summed_on_host(w: np.ndarray) -> float:
    x = np.random.default_rng(30).uniform(0.2, 1.5, (3, 4)).astype(np.float32)
    return float(((np.sin(w[0] * x) + w[1] - 0.4) ** 2).sum())


def stepped_through_view(x: np.ndarray) -> float:
    return float((np.exp(-((np.roll(x, -1) - x) ** 2)) + 0.1 * x**2).sum())


def swapped_parameters(x: np.ndarray) -> float:
    return float((x**4 - x).sum())


def layers_in_struct(w0: np.ndarray, b0: np.ndarray, w1: np.ndarray, b1: np.ndarray) -> float:
    x = np.array([0.5, -1.0, 0.8])
    for w, b in ((w0, b0), (w1, b1)):
        x = np.tanh(w.reshape(3, 3) @ x + b)
    return float(((x - 0.2 * np.arange(3)) ** 2).sum())


def seeded_noise(m: np.ndarray, noise: np.ndarray) -> float:
    x = m[0] + np.exp(m[1]) * noise
    return float((np.cos(x) + 0.2 * x**2).mean())


def matrix_fit(a: np.ndarray) -> float:
    rng = np.random.default_rng(32)
    rng.uniform(0.3, 0.9, (3, 4))
    x = rng.uniform(0.2, 1.4, 4)
    return float((((a.reshape(3, 4) ** 2) @ np.sin(x) - 1.0) ** 2).sum())


def captured_training(thrust: np.ndarray) -> float:
    start, goal = np.random.default_rng(40).uniform(-1.0, 1.0, (3, 4, 3)).astype(np.float32)[1:]
    thrust, x = thrust.reshape(4, 3), start.astype(np.float64)
    for _ in range(6):
        x = x + 0.2 * np.cross(thrust, x) + 0.05 * thrust
    return float(((x - goal) ** 2).sum())


def projected_gradient(height: np.ndarray) -> float:
    return float((1.0 / (0.5 + height[:-1] ** 2) + 3.0 * np.diff(height) ** 2).sum())


def copied_and_read(x: np.ndarray) -> float:
    z = np.tanh(x) + 0.2 * np.roll(x, -1)
    return float(((x - z) ** 2 + 0.1 * x * z).sum())


def warm_started_segments(u: np.ndarray) -> float:
    p = np.zeros(4)
    for _ in range(3):
        for _ in range(2):
            p = 0.25 * (np.roll(p, -1) + np.roll(p, 1)) + 0.3 * u**2
        u = u + 0.2 * np.sin(np.roll(p, -1) - p) - 0.1 * u * p
    return float(((u - 0.4) ** 2).sum())


def sparse_product(x: np.ndarray) -> float:
    matrix = np.zeros((5, 5))
    matrix[[0, 0, 1, 2, 2, 3, 4, 4], [0, 3, 1, 0, 4, 2, 3, 1]] = [0.7, -0.4, 1.1, 0.3, 0.9, -0.6, 0.5, 0.8]
    return float(((matrix @ (np.sin(x) + 0.5 * x) - 0.3) ** 2).sum())


def moving_mesh(wind: np.ndarray) -> float:
    push = wind.reshape(4, 3)
    p = np.array([[0.1, 0.2, 0.9], [0.5, 0.1, 0.7], [0.2, 0.6, 1.1], [0.7, 0.6, 0.8]])
    flat = np.array([[-3.0, -3.0, 0.0], [5.0, -3.0, 0.0], [-3.0, 5.0, 0.0]])
    for t in range(2):
        corners = flat + np.outer(0.1 * np.sin(0.5 * t + np.arange(3.0)), [0.0, 0.0, 1.0])
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal = normal / np.linalg.norm(normal)
        away = np.outer((p - corners[0]) @ normal, normal)
        apart = p[:, None, :] - p[None, :, :]
        weight = np.exp(-(apart**2).sum(axis=2, keepdims=True))
        p = p + 0.1 * push + 0.2 * away + 0.05 * (apart * weight).sum(axis=1)
    return float((p**2).sum())


def torch_network(w: np.ndarray, b: np.ndarray) -> float:
    h = np.tanh(np.linspace(-1.0, 1.0, 15).reshape(5, 3) @ w.reshape(2, 3).T + b)
    y = np.sin(h[:, 0]) * np.exp(-(h[:, 1] ** 2))
    return float(((y - np.array([-0.3, -0.1, 0.0, 0.2, 0.4])) ** 2).sum())


def torch_steps_warp(a: np.ndarray) -> float:
    x = np.array([-1.0, -0.6, -0.1, 0.3, 0.8, 1.1])
    return float(((a[0] * x + a[1] * np.sin(2.0 * x) - x * x) ** 2).sum())
