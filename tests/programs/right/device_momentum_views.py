# expect: right
"""Rows of one parameter array are trained at different rates, through views of its gradient."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def layer(p: wp.array2d(dtype=float), x: wp.array(dtype=float), h: wp.array(dtype=float)):
    i = wp.tid()
    h[i] = wp.tanh(p[0, i] * x[i]) * p[1, i]


@wp.kernel
def score(h: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = h[i] - 0.3
    wp.atomic_add(loss, 0, d * d)


@wp.kernel(enable_backward=False)
def descend(p: wp.array(dtype=float), g: wp.array(dtype=float), rate: float):
    i = wp.tid()
    p[i] = p[i] - rate * g[i]


rng = np.random.default_rng(18)
p = wp.array(rng.uniform(0.3, 1.0, (2, 4)), dtype=float, requires_grad=True)
x = wp.array(rng.uniform(-1.0, 1.0, 4), dtype=float)
for it in range(3):
    h = wp.zeros(4, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(layer, dim=4, inputs=[p, x, h])
        wp.launch(score, dim=4, inputs=[h, loss])
    tape.backward(loss)
    print("iter", it, "loss", float(loss.numpy()[0]), "p", p.numpy().tolist(), "grad_p", p.grad.numpy().tolist())
    for row, rate in enumerate((0.1, 0.3)):
        wp.launch(descend, dim=4, inputs=[p[row], p.grad[row], rate])
    tape.zero()
