# expect: wrong
"""The weights of a filter are stored in half precision; their gradients are never cleared."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def respond(w: wp.array(dtype=wp.float16), x: wp.array(dtype=wp.float16), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = wp.sin(float(w[i]) * float(x[i])) + float(w[i]) - 0.5
    wp.atomic_add(loss, 0, d * d)


rng = np.random.default_rng(47)
w = wp.array(rng.uniform(-1.0, 1.0, 4).astype(np.float16), dtype=wp.float16, requires_grad=True)
x = wp.array(np.array([0.5, -0.75, 1.25, -1.5], dtype=np.float16), dtype=wp.float16)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(respond, dim=4, inputs=[w, x, loss])
    tape.backward(loss)  # <- RG301
    g = w.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - np.float16(0.1) * g)
