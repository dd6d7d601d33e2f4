# ruff: noqa: D103
"""Fits the speeds of a small vibrating membrane in place, so that backward reads the last heights only."""

import numpy as np
import warp as wp

SIZE, STEPS, ROUNDS = 24, 600, 4


@wp.kernel
def accelerate(
    height: wp.array2d(dtype=float), speed: wp.array2d(dtype=float), velocity: wp.array2d(dtype=float), dt: float
):
    i, j = wp.tid()
    n = height.shape[0]
    bend = height[wp.min(i + 1, n - 1), j] + height[wp.max(i - 1, 0), j] - 4.0 * height[i, j]
    bend += height[i, wp.min(j + 1, n - 1)] + height[i, wp.max(j - 1, 0)]
    velocity[i, j] += dt * speed[i, j] * speed[i, j] * bend


@wp.kernel
def displace(velocity: wp.array2d(dtype=float), height: wp.array2d(dtype=float), dt: float):
    i, j = wp.tid()
    height[i, j] += dt * velocity[i, j]


@wp.kernel
def energy(height: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(loss, 0, height[i, j] * height[i, j])


shape = (SIZE, SIZE)
x = np.linspace(0.0, np.pi, SIZE, dtype=np.float32)
bump = np.outer(np.sin(x), np.sin(2.0 * x))
speed = wp.array(np.ones(shape, dtype=np.float32), dtype=float, requires_grad=True)
for iteration in range(ROUNDS):
    height = wp.array(bump, dtype=float, requires_grad=True)
    velocity = wp.zeros(shape, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for _ in range(STEPS):
            wp.launch(accelerate, dim=shape, inputs=[height, speed, velocity, 0.05])
            wp.launch(displace, dim=shape, inputs=[velocity, height, 0.05])
        wp.launch(energy, dim=shape, inputs=[height, loss])
    tape.backward(loss)
    print("iteration", iteration, "loss", float(loss.numpy()[0]))
    speed.assign(speed.numpy() - 1e-3 * speed.grad.numpy())
    tape.zero()
