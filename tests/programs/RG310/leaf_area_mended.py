# expect: right
"""One tape for all iterations, reset after each."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def canopy(k: wp.array(dtype=float), day: wp.array(dtype=float), area: wp.array(dtype=float)):
    i = wp.tid()
    area[i] = k[0] / (1.0 + wp.exp(k[1] - 0.6 * day[i]))


@wp.kernel
def compare(area: wp.array(dtype=float), seen: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = area[i] - seen[i]
    wp.atomic_add(loss, 0, 0.1 * d * d)


days = np.arange(8, dtype=np.float32)
day = wp.array(days, dtype=float)
seen = wp.array((3.0 / (1.0 + np.exp(2.0 - 0.6 * days))).astype(np.float32), dtype=float)
k = wp.array([2.2, 1.1], dtype=float, requires_grad=True)
area = wp.zeros(8, dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
tape = wp.Tape()
for it in range(4):
    loss.zero_()
    with tape:
        wp.launch(canopy, dim=8, inputs=[k, day], outputs=[area])
        wp.launch(compare, dim=8, inputs=[area, seen, loss])
    tape.backward(loss)
    g = k.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.1 * g)
    tape.reset()
