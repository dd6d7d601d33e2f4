# expect: right
"""Data and smoothness terms in two losses, pushed back together by one call with two seeds."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def data_term(x: wp.array(dtype=float), y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = wp.exp(x[i]) - y[i]
    wp.atomic_add(loss, 0, d * d)


@wp.kernel
def roughness(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = x[i + 1] - x[i]
    wp.atomic_add(loss, 0, d * d)


y = wp.array([1.0, 1.6, 2.2, 1.1], dtype=float)
x = wp.array(np.array([0.1, 0.8, 0.3, 0.5]), dtype=float, requires_grad=True)
one = wp.ones(1, dtype=float)
weight = wp.full(1, 0.25, dtype=float)
for it in range(3):
    fit = wp.zeros(1, dtype=float, requires_grad=True)
    rough = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(data_term, dim=4, inputs=[x, y, fit])
        wp.launch(roughness, dim=3, inputs=[x, rough])
    tape.backward(grads={fit: one, rough: weight})
    value = float(fit.numpy()[0] + 0.25 * rough.numpy()[0])
    g = x.grad.numpy()
    print("iter", it, "loss", value, "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.05 * g)
    tape.zero()
