# expect: right
"""Gradients are gathered over three micro-batches before each step, on purpose."""

import numpy as np
import warp as wp

wp.set_device("cpu")
BATCHES, SIZE = 3, 4


@wp.kernel
def predict(w: wp.array(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = w[0] * x[i] + w[1] * x[i] * x[i] - y[i]
    wp.atomic_add(loss, 0, d * d / float(BATCHES * SIZE))


rng = np.random.default_rng(10)
xs = rng.uniform(-1.0, 1.0, (BATCHES, SIZE)).astype(np.float32)
ys = np.cos(xs)
w = wp.array([0.3, -0.6], dtype=float, requires_grad=True)
for it in range(4):
    w.grad.zero_()
    value = 0.0
    for b in range(BATCHES):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(predict, dim=SIZE, inputs=[w, wp.array(xs[b], dtype=float), wp.array(ys[b], dtype=float), loss])
        tape.backward(loss)
        value += float(loss.numpy()[0])
    g = w.grad.numpy().copy()
    print("iter", it, "loss", value, "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - 0.2 * g)
