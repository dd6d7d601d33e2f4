# ruff: noqa: D103
"""The same as `heat.py`, but two buffers take turns, so that backward reads overwritten temperatures."""

import numpy as np
import warp as wp

SIZE, STEPS, ROUNDS = 56, 60, 4


@wp.func
def flux(a: float, b: float):
    mean = 0.5 * (a + b)
    return (1.0 + 0.3 * mean * mean) * (b - a)


@wp.kernel
def conduct(now: wp.array3d(dtype=float), following: wp.array3d(dtype=float), rate: float):
    i, j, k = wp.tid()
    n = now.shape[0]
    here = now[i, j, k]
    change = flux(here, now[wp.min(i + 1, n - 1), j, k]) + flux(here, now[wp.max(i - 1, 0), j, k])
    change += flux(here, now[i, wp.min(j + 1, n - 1), k]) + flux(here, now[i, wp.max(j - 1, 0), k])
    change += flux(here, now[i, j, wp.min(k + 1, n - 1)]) + flux(here, now[i, j, wp.max(k - 1, 0)])
    following[i, j, k] = here + rate * change


@wp.kernel
def misfit(state: wp.array3d(dtype=float), wanted: wp.array3d(dtype=float), loss: wp.array(dtype=float)):
    i, j, k = wp.tid()
    wp.atomic_add(loss, 0, wp.pow(state[i, j, k] - wanted[i, j, k], 2.0))


def field(shift):
    x = np.linspace(0.0, 2.0 * np.pi, SIZE, dtype=np.float32) + shift
    return np.sin(x)[:, None, None] * np.cos(x)[None, :, None] + 0.5 * np.sin(2.0 * x)[None, None, :]


shape = (SIZE, SIZE, SIZE)
start = wp.array(field(0.0), dtype=float, requires_grad=True)
wanted = wp.array(field(0.4), dtype=float)
buffers = [wp.zeros(shape, dtype=float, requires_grad=True) for _ in range(2)]
for iteration in range(ROUNDS):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        now = start
        for step in range(STEPS):
            following = buffers[step % 2]
            wp.launch(conduct, dim=shape, inputs=[now, following, 0.08])
            now = following
        wp.launch(misfit, dim=shape, inputs=[now, wanted, loss])
    tape.backward(loss)
    print("iteration", iteration, "loss", float(loss.numpy()[0]))
    start.assign(start.numpy() - 0.1 * start.grad.numpy())
    tape.zero()
