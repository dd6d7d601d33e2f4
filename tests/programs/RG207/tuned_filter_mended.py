# expect: right
"""Tunes a recursive filter; its coefficients stay in their array."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 12


@wp.kernel
def excite(c: wp.array(dtype=wp.float64), x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = c[0] * x[i] + wp.tanh(c[0] * x[i] * x[i])


@wp.kernel
def decay(c: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), z: wp.array(dtype=wp.float64)):
    i = wp.tid()
    total = wp.float64(0.0)
    for j in range(N):
        if j <= i:
            total += y[j] * wp.exp(-c[1] * wp.float64(i - j))
    z[i] = total


@wp.kernel
def energy(z: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = z[i] - wp.float64(0.5)
    wp.atomic_add(loss, 0, d * d)


def forward(x, c, loss):
    y, z = (wp.zeros(N, dtype=wp.float64, requires_grad=True) for _ in range(2))
    wp.launch(excite, dim=N, inputs=[c, x, y])
    wp.launch(decay, dim=N, inputs=[c, y, z])
    wp.launch(energy, dim=N, inputs=[z, loss])


x = wp.array(np.sin(np.arange(N)), dtype=wp.float64)
c = wp.array([0.7, 0.4], dtype=wp.float64, requires_grad=True)
for it in range(3):
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        forward(x, c, loss)
    tape.backward(loss)
    g = c.grad.numpy()
    print("iter", it, "loss", loss.numpy()[0], "c", c.numpy().tolist(), "grad_c", g.tolist())
    c.assign(c.numpy() - 0.01 * g)
    tape.zero()
