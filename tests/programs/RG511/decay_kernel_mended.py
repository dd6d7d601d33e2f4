# expect: right
"""The optimizer takes the gradient from its buffer."""

import numpy as np
import warp as wp
import warp.optim

wp.set_device("cpu")


@wp.kernel
def respond(w: wp.array(dtype=float), x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = wp.tanh(w[0] * x[i] + w[1]) * w[2] - 0.5 * x[i]
    wp.atomic_add(loss, 0, d * d)


x = wp.array(np.linspace(-1.0, 2.0, 10), dtype=float)
w = wp.array([0.8, -0.2, 1.1], dtype=float, requires_grad=True)
optimizer = warp.optim.Adam([w], lr=0.05)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(respond, dim=10, inputs=[w, x, loss])
    tape.backward(loss)
    g = w.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "w", w.numpy().tolist(), "grad_w", g.tolist())
    optimizer.step([w.grad])
    tape.zero()
