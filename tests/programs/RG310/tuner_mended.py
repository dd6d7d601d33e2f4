# expect: right
"""A class that makes a tape for each pass; every iteration has arrays of its own, too."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 5


@wp.kernel
def filter(gain: wp.array(dtype=wp.float64), x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = wp.tanh(gain[i] * x[i]) + wp.float64(0.3) * gain[(i + 1) % gain.shape[0]]


@wp.kernel
def energy(y: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, y[i] * y[i] + wp.float64(0.5) * y[i])


class Tuner:
    def __init__(self, start):
        self.gain = wp.array(start, dtype=wp.float64, requires_grad=True)
        self.input = wp.array(np.linspace(-1.0, 1.5, N), dtype=wp.float64)

    def record(self):
        y = wp.zeros(N, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        self.tape = wp.Tape()
        with self.tape:
            wp.launch(filter, dim=N, inputs=[self.gain, self.input], outputs=[y])
            wp.launch(energy, dim=N, inputs=[y, loss])
        return loss

    def step(self, it):
        loss = self.record()
        self.tape.backward(loss)
        at, g = self.gain.numpy().tolist(), self.gain.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy().item(), "gain", at, "grad_gain", g.tolist())
        self.gain.assign(self.gain.numpy() - 0.05 * g)
        self.gain.grad.zero_()


tuner = Tuner(np.array([0.9, -0.4, 0.5, 1.2, -0.8]))
for it in range(4):
    tuner.step(it)
