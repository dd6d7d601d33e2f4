# expect: right
"""Layers take their gradients from a pool."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 6


@wp.kernel
def layer(x: wp.array(dtype=wp.float64), w: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = wp.tanh(w[i] * x[i] + wp.float64(0.2) * x[(i + 1) % x.shape[0]])


@wp.kernel
def skip(
    a: wp.array(dtype=wp.float64),
    b: wp.array(dtype=wp.float64),
    w: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    d = a[i] * w[i] + b[i] - wp.float64(0.5)
    wp.atomic_add(loss, 0, d * d)


class Pool:
    def __init__(self, count):
        self.memory = wp.zeros(count * N, dtype=wp.float64)
        self.used = 0

    def take(self):
        piece = self.memory[self.used : self.used + N]
        self.used = (self.used + N) % self.memory.size
        return piece

    def array(self):
        return wp.array(np.zeros(N), dtype=wp.float64, grad=self.take())


pool = Pool(2)
w = wp.array(np.linspace(0.4, 1.3, N), dtype=wp.float64, requires_grad=True)
x = wp.array(np.cos(np.arange(N)), dtype=wp.float64)
for it in range(3):
    first, second = pool.array(), pool.array()
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(layer, dim=N, inputs=[x, w], outputs=[first])
        wp.launch(layer, dim=N, inputs=[first, w], outputs=[second])
        wp.launch(skip, dim=N, inputs=[first, second, w, loss])
    tape.backward(loss)
    g = w.grad.numpy().copy()
    print("iter", it, "loss", loss.numpy().item(), "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - 0.1 * g)
    tape.zero()
