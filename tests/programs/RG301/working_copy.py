# expect: wrong
"""Micro-batches on a working copy of the weights: copying also copies the gradient gathered so far."""

import numpy as np
import warp as wp

wp.set_device("cpu")
BATCHES = 3


@wp.kernel
def respond(w: wp.array(dtype=float), x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = wp.tanh(w[0] * x[i]) + w[1] * x[i] - 0.3
    wp.atomic_add(loss, 0, d * d)


xs = np.random.default_rng(15).uniform(-1.0, 1.5, (BATCHES, 4)).astype(np.float32)
w = wp.array([0.6, -0.2], dtype=float, requires_grad=True)
for it in range(3):
    value = 0.0
    for batch in range(BATCHES):
        working = wp.zeros(2, dtype=float, requires_grad=True)
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.copy(working, w)  # <- RG301 RG304
            wp.launch(respond, dim=4, inputs=[working, wp.array(xs[batch], dtype=float), loss])
        tape.backward(loss)  # <- RG301 RG304
        value += float(loss.numpy()[0])
    g = w.grad.numpy().copy()
    print("iter", it, "loss", value, "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - 0.01 * g)
    w.grad.zero_()
