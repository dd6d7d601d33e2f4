# expect: wrong
"""The residual is read, then its memory is wiped within the recording; backward is seeded on it."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 6


@wp.kernel
def decay(k: wp.array(dtype=wp.float64), t: wp.array(dtype=wp.float64), r: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = k[0] * wp.exp(-k[1] * t[i]) - wp.exp(-wp.float64(0.7) * t[i])
    r[i] = d * d


@wp.kernel
def wipe(r: wp.array(dtype=wp.float64)):
    r[wp.tid()] = wp.float64(0.0)


class Model:
    def __init__(self):
        self.k = wp.array([1.6, 0.3], dtype=wp.float64, requires_grad=True)
        self.t = wp.array(np.linspace(0.0, 2.5, N), dtype=wp.float64)
        self.r = wp.zeros(N, dtype=wp.float64, requires_grad=True)
        self.seed = wp.full(N, 1.0, dtype=wp.float64)

    def evaluate(self):
        tape = wp.Tape()
        with tape:
            wp.launch(decay, dim=N, inputs=[self.k, self.t], outputs=[self.r])
            value = self.r.numpy().sum()
            wp.launch(wipe, dim=N, inputs=[self.r])  # <- RG308
        tape.backward(grads={self.r: self.seed})
        g = self.k.grad.numpy().copy()
        tape.zero()
        return value, g


model = Model()
for it in range(3):
    value, g = model.evaluate()
    k = model.k.numpy()
    print("iter", it, "loss", float(value), "k", k.tolist(), "grad_k", g.tolist())
    model.k.assign(k - 0.05 * g)
