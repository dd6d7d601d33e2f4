# expect: right, remark RG513
"""A saturated unit: the loss is far from its minimum and hardly depends on the weights."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def unit(w: wp.array(dtype=wp.float64), x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = wp.tanh(w[0] * x[i] + w[1]) + wp.float64(0.6)
    wp.atomic_add(loss, 0, d * d)


x = wp.array(np.linspace(0.5, 1.5, 6), dtype=wp.float64)
w = wp.array([4.0, 4.0], dtype=wp.float64, requires_grad=True)
for it in range(3):
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(unit, dim=6, inputs=[w, x, loss])
    tape.backward(loss)
    g = w.grad.numpy().copy()
    print("iter", it, "loss", loss.numpy().item(), "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - 0.5 * g)
    tape.zero()
