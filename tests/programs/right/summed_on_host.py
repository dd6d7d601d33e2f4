# expect: right
"""Gradients of micro-batches are read, cleared and summed in NumPy, then divided by their number."""

import numpy as np
import warp as wp

wp.set_device("cpu")
BATCHES, SIZE = 3, 4


@wp.kernel
def predict(w: wp.array(dtype=float), x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = wp.sin(w[0] * x[i]) + w[1] - 0.4
    wp.atomic_add(loss, 0, d * d)


xs = np.random.default_rng(30).uniform(0.2, 1.5, (BATCHES, SIZE)).astype(np.float32)
w = wp.array([0.9, -0.1], dtype=float, requires_grad=True)
for it in range(3):
    total, value = np.zeros(2), 0.0
    for batch in xs:
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(predict, dim=SIZE, inputs=[w, wp.array(batch, dtype=float), loss])
        tape.backward(loss)
        total += w.grad.numpy()
        value += float(loss.numpy()[0])
        tape.zero()
    print("iter", it, "loss", value, "w", w.numpy().tolist(), "grad_w", total.tolist())
    w.assign((w.numpy() - 0.2 * total / BATCHES).astype(np.float32))
