# expect: right
"""Kernels made by a function, one an activation; every layer has an output of its own."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.func
def bend(x: float):
    return x / (1.0 + x * x)


@wp.func
def soften(x: float):
    return wp.log(1.0 + wp.exp(x))


def layer(activation, gain):
    @wp.kernel
    def forward(w: wp.array(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = gain * activation(w[i] * x[i])

    return forward


@wp.kernel
def total(y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, y[i] * y[i])


FIRST, SECOND = layer(bend, wp.constant(2.0)), layer(soften, wp.constant(0.7))
w = wp.array([0.9, -0.4, 1.6], dtype=float, requires_grad=True)
for it in range(3):
    x = wp.array([0.5, 1.4, -0.8], dtype=float, requires_grad=True)
    h = wp.zeros(3, dtype=float, requires_grad=True)
    y = wp.zeros(3, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(FIRST, dim=3, inputs=[w, x], outputs=[h])
        wp.launch(SECOND, dim=3, inputs=[w, h], outputs=[y])
        wp.launch(total, dim=3, inputs=[y, loss])
    tape.backward(loss)
    g = w.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(np.float32(w.numpy() - 0.1 * g))
    tape.zero()
