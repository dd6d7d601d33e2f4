# expect: right, remark RG509
"""The gradient of the hidden layer is logged along with that of the weights."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def hide(w: wp.array(dtype=float), x: wp.array(dtype=float), hidden: wp.array(dtype=float)):
    i = wp.tid()
    hidden[i] = wp.tanh(w[i] * x[i])


@wp.kernel
def score(w: wp.array(dtype=float), hidden: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = hidden[i] * w[i] - 0.4
    wp.atomic_add(loss, 0, d * d)


x = wp.array(np.linspace(0.5, 2.0, 5), dtype=float)
w = wp.array([0.9, -0.6, 0.3, 1.2, 0.8], dtype=float, requires_grad=True)
for it in range(3):
    hidden = wp.zeros(5, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(hide, dim=5, inputs=[w, x], outputs=[hidden])
        wp.launch(score, dim=5, inputs=[w, hidden, loss])
    tape.backward(loss)
    g = w.grad.numpy().copy()
    print("hidden layer:", hidden.grad.numpy())
    print("iter", it, "loss", float(loss.numpy()[0]), "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - 0.1 * g)
    tape.zero()
