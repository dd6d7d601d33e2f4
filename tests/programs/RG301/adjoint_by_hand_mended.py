# expect: right
"""Fits two weights without a tape: the adjoints of both kernels are launched by hand, into buffers made once."""

import numpy as np
import warp as wp

wp.set_device("cpu")
SIZE = 7


@wp.kernel
def model(w: wp.array(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.exp(w[0] * x[i]) + w[1] * x[i]


@wp.kernel
def misfit(y: wp.array(dtype=float), x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - 1.0 - 2.0 * x[i]
    wp.atomic_add(loss, 0, d * d)


x = wp.array(np.linspace(-1.0, 1.0, SIZE), dtype=float)
w = wp.array([0.4, 0.3], dtype=float)
slope_w, slope_loss = wp.zeros(2, dtype=float), wp.ones(1, dtype=float)
for it in range(4):
    y, loss = wp.zeros(SIZE, dtype=float), wp.zeros(1, dtype=float)
    wp.launch(model, dim=SIZE, inputs=[w, x], outputs=[y])
    wp.launch(misfit, dim=SIZE, inputs=[y, x], outputs=[loss])
    slope_y = wp.zeros(SIZE, dtype=float)
    back = {"dim": SIZE, "adjoint": True}
    slope_loss.fill_(1.0)
    slope_w.zero_()
    wp.launch(misfit, inputs=[y, x], outputs=[loss], adj_inputs=[slope_y, None], adj_outputs=[slope_loss], **back)
    wp.launch(model, inputs=[w, x], outputs=[y], adj_inputs=[slope_w, None], adj_outputs=[slope_y], **back)
    g = slope_w.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - 0.02 * g)
