# expect: right
"""Finds the feed rate of a reaction-diffusion pattern; concentrations live on two grids that swap roles."""

import numpy as np
import warp as wp

wp.set_device("cpu")
ROWS, COLS, STEPS = 4, 5, 6


@wp.kernel
def react(
    u: wp.array2d(dtype=float), v: wp.array2d(dtype=float), feed: wp.array(dtype=float),
    u_next: wp.array2d(dtype=float), v_next: wp.array2d(dtype=float),
):  # fmt: skip
    i, j = wp.tid()
    left = (j + COLS - 1) % COLS
    up = (i + ROWS - 1) % ROWS
    lap_u = u[i, left] + u[i, (j + 1) % COLS] + u[up, j] + u[(i + 1) % ROWS, j] - 4.0 * u[i, j]
    lap_v = v[i, left] + v[i, (j + 1) % COLS] + v[up, j] + v[(i + 1) % ROWS, j] - 4.0 * v[i, j]
    rate = u[i, j] * v[i, j] * v[i, j]
    u_next[i, j] = u[i, j] + 0.16 * lap_u - rate + feed[0] * (1.0 - u[i, j])
    v_next[i, j] = v[i, j] + 0.08 * lap_v + rate - (feed[0] + feed[1]) * v[i, j]


@wp.kernel
def misfit(v: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i, j = wp.tid()
    d = v[i, j] - 0.25
    wp.atomic_add(loss, 0, d * d)


def grid(values):
    return wp.array(values, dtype=float, requires_grad=True)


rng = np.random.default_rng(5)
u0 = rng.uniform(0.5, 1.0, (ROWS, COLS)).astype(np.float32)
v0 = rng.uniform(0.2, 0.6, (ROWS, COLS)).astype(np.float32)
feed = wp.array([0.12, 0.2], dtype=float, requires_grad=True)
for it in range(3):
    us = [grid(u0)] + [grid(np.zeros_like(u0)) for _ in range(STEPS)]
    vs = [grid(v0)] + [grid(np.zeros_like(v0)) for _ in range(STEPS)]
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for k in range(STEPS):
            a, b = k, k + 1
            wp.launch(react, dim=(ROWS, COLS), inputs=[us[a], vs[a], feed], outputs=[us[b], vs[b]])
        wp.launch(misfit, dim=(ROWS, COLS), inputs=[vs[STEPS], loss])
    tape.backward(loss)
    g = feed.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "feed", feed.numpy().tolist(), "grad_feed", g.tolist())
    feed.assign(feed.numpy() - 0.001 * g)
    tape.zero()
