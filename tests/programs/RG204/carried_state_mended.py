# expect: right
"""Spreading heat in a bar; each step starts from a clone of what the last one made."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N, STEPS = 30, 3


@wp.kernel
def step(u: wp.array(dtype=float), source: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    left = u[(i + N - 1) % N]
    right = u[(i + 1) % N]
    out[i] = u[i] + 0.3 * (left - 2.0 * u[i] + right) + 0.2 * wp.sin(source[i]) * (1.0 + u[i] * u[i])


@wp.kernel
def misfit(u: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = u[i] - 0.5
    wp.atomic_add(loss, 0, d * d)


source = wp.array(0.4 + 0.3 * np.sin(np.arange(N)), dtype=float, requires_grad=True)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    u = wp.zeros(N, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for _ in range(STEPS):
            out = wp.zeros(N, dtype=float, requires_grad=True)
            wp.launch(step, dim=N, inputs=[u, source, out])
            u = wp.clone(out)
        wp.launch(misfit, dim=N, inputs=[u, loss])
    tape.backward(loss)
    g = source.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "source", source.numpy().tolist(), "grad_source", g.tolist())
    source.assign(source.numpy() - 0.2 * g)
    tape.zero()
