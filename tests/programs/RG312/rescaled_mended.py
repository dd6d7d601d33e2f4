# expect: right
"""Parameters are rescaled, into a new array, before the optimizer is given it."""

import numpy as np
import warp as wp
import warp.optim

wp.set_device("cpu")
RATE = 0.05


@wp.kernel
def predict(w: wp.array(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = w[0] + w[1] * x[i] + w[2] * wp.sin(2.0 * x[i])


@wp.kernel
def score(y: wp.array(dtype=float), x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - wp.exp(-x[i])
    wp.atomic_add(loss, 0, d * d)


x = wp.array(np.linspace(0.0, 2.0, 9), dtype=float)
w = wp.array([40.0, 10.0, -20.0], dtype=float, requires_grad=True)
w = wp.array(w.numpy() / 100.0, dtype=float, requires_grad=True)
optimizer = warp.optim.SGD([w], lr=RATE)
for it in range(4):
    y = wp.zeros(9, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(predict, dim=9, inputs=[w, x], outputs=[y])
        wp.launch(score, dim=9, inputs=[y, x, loss])
    tape.backward(loss)
    at = w.numpy().copy()
    optimizer.step([w.grad])
    step = (at - w.numpy()) / RATE
    print("iter", it, "loss", float(loss.numpy()[0]), "w", at.tolist(), "grad_w", step.tolist())
    tape.zero()
