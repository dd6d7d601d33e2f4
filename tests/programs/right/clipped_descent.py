# expect: right, remark RG511
"""The step is clipped and decayed on purpose between backward and update."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def steep(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.cosh(1.5 * x[i]) + 0.3 * x[i])


x = wp.array([1.4, -0.6, 0.2], dtype=float, requires_grad=True)
for it in range(4):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(steep, dim=3, inputs=[x, loss])
    tape.backward(loss)
    g = x.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", g.tolist())
    norm = np.linalg.norm(g)
    if norm > 1.0:
        g = g / norm
    x.assign(x.numpy() - 0.1 * (g + 0.01 * x.numpy()))
    tape.zero()
