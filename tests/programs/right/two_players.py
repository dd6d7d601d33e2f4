# expect: right
"""Two sets of parameters take turns, each descending a loss of its own on a tape of its own."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def draw(a: wp.array(dtype=float), z: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[0] + wp.tanh(a[1] * z[i])


@wp.kernel
def gap(
    b: wp.array(dtype=float),
    s: wp.array(dtype=float),
    r: wp.array(dtype=float),
    sign: float,
    loss: wp.array(dtype=float),
):
    i = wp.tid()
    fake = wp.sin(b[0] * s[i]) + b[1] * s[i]
    real = wp.sin(b[0] * r[i]) + b[1] * r[i]
    wp.atomic_add(loss, 0, sign * (real - fake) + 0.05 * (b[0] * b[0] + b[1] * b[1]))


rng = np.random.default_rng(21)
z = wp.array(rng.normal(size=5), dtype=float)
real = wp.array(rng.normal(1.0, 0.3, 5), dtype=float)
a = wp.array([0.2, 0.9], dtype=float, requires_grad=True)
b = wp.array([0.8, -0.3], dtype=float, requires_grad=True)
for it in range(6):
    player, sign = (a, 1.0) if it % 2 == 0 else (b, -1.0)
    fake = wp.zeros(5, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(draw, dim=5, inputs=[a, z, fake])
        wp.launch(gap, dim=5, inputs=[b, fake, real, sign, loss])
    tape.backward(loss)
    g = player.grad.numpy().copy()
    if it % 2 == 0:
        print(
            "iter",
            it,
            "loss",
            float(loss.numpy()[0]),
            "a",
            a.numpy().tolist(),
            "grad_a",
            g.tolist(),
            "b",
            b.numpy().tolist(),
        )
    else:
        print(
            "iter",
            it,
            "loss",
            float(loss.numpy()[0]),
            "b",
            b.numpy().tolist(),
            "grad_b",
            g.tolist(),
            "a",
            a.numpy().tolist(),
        )
    player.assign(player.numpy() - 0.05 * g)
    tape.zero()
