# expect: wrong by all
"""Two faults at once: states share two buffers, and gradients are never cleared."""

import numpy as np
import warp as wp

wp.set_device("cpu")
STEPS = 4


@wp.kernel
def breed(x: wp.array(dtype=float), r: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = r[i] * x[i] * (1.0 - x[i])


@wp.kernel
def settle(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = x[i] - 0.6
    wp.atomic_add(loss, 0, d * d)


start = np.array([0.3, 0.55, 0.7], dtype=np.float32)
r = wp.array([1.8, 2.4, 2.9], dtype=float, requires_grad=True)
for it in range(4):
    pool = [wp.zeros(3, dtype=float, requires_grad=True) for _ in range(2)]
    pool[0].assign(start)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for k in range(STEPS):
            old, new = pool[k % len(pool)], pool[(k + 1) % len(pool)]
            wp.launch(breed, dim=3, inputs=[old, r, new])  # <- RG101
        wp.launch(settle, dim=3, inputs=[pool[STEPS % len(pool)], loss])
    tape.backward(loss)  # <- RG301
    g = r.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "r", r.numpy().tolist(), "grad_r", g.tolist())
    r.assign(r.numpy() - 0.05 * g)
