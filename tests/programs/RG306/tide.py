# expect: wrong
"""Checkpoints are references to a buffer that is used again, so every segment is run again from the last state."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N, SEGMENTS, STEPS = 4, 3, 3


@wp.kernel
def flood(h: wp.array(dtype=float), k: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    n = h.shape[0]
    slope = h[(i + 1) % n] - h[(i + n - 1) % n]
    out[i] = h[i] + 0.2 * k[i] * wp.sin(h[i]) - 0.1 * slope * h[i]


@wp.kernel
def gauge(h: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (h[i] - 0.5) * (h[i] - 0.5))


def array(values=None):
    return wp.array(np.zeros(N) if values is None else values, dtype=float, requires_grad=True)


class Channel:
    def __init__(self):
        self.k = array([0.4, 0.9, 0.2, 0.7])
        self.work = [array(), array()]

    def forward(self):
        self.work[0].assign(np.array([0.3, 0.8, 0.5, 1.1], dtype=np.float32))
        kept = []
        for s in range(SEGMENTS):
            kept.append(self.keep(self.work[(s * STEPS) % 2]))
            for t in range(s * STEPS, (s + 1) * STEPS):
                wp.launch(flood, dim=N, inputs=[self.work[t % 2], self.k, self.work[(t + 1) % 2]])
        return kept, wp.clone(self.work[(SEGMENTS * STEPS) % 2])

    def keep(self, state):
        return state

    def rerun(self, state):
        h = wp.clone(state)
        h.requires_grad = True
        first = h
        tape = wp.Tape()
        with tape:
            for _ in range(STEPS):
                following = array()
                wp.launch(flood, dim=N, inputs=[h, self.k, following])  # <- RG306
                h = following
        return tape, first, h

    def gradient(self):
        kept, last = self.forward()
        last.requires_grad = True
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(gauge, dim=N, inputs=[last, loss])
        tape.backward(loss)
        adjoint = last.grad.numpy().copy()
        for state in reversed(kept):
            tape, first, end = self.rerun(state)  # <- RG306
            tape.backward(grads={end: wp.array(adjoint, dtype=float)})
            adjoint = first.grad.numpy().copy()
        g = self.k.grad.numpy().copy()
        self.k.grad.zero_()
        return float(loss.numpy()[0]), g


channel = Channel()
for it in range(3):
    value, g = channel.gradient()
    k = channel.k.numpy()
    print("iter", it, "loss", value, "k", k.tolist(), "grad_k", g.tolist())
    channel.k.assign(k - 0.2 * g)
