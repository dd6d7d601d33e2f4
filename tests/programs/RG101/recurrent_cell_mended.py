# expect: right
"""A recurrent cell; the new hidden state is copied back into the old one."""

import numpy as np
import warp as wp
import warp.optim

HIDDEN, LENGTH = 3, 5


@wp.kernel
def cell(
    w: wp.array2d(dtype=float), h: wp.array(dtype=float), x: wp.array2d(dtype=float), t: int, out: wp.array(dtype=float)
):
    i = wp.tid()
    s = float(0.0)
    for j in range(HIDDEN):
        s += w[i, j] * h[j]
    out[i] = wp.tanh(s + x[t, i])


@wp.kernel
def readout(h: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = h[i] - 0.5
    wp.atomic_add(loss, 0, d * d)


class Network:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.w = wp.array(rng.normal(0.0, 0.7, (HIDDEN, HIDDEN)), dtype=float, requires_grad=True)
        self.x = wp.array(rng.normal(0.0, 0.5, (LENGTH, HIDDEN)), dtype=float)

    def forward(self, loss):
        h = wp.zeros(HIDDEN, dtype=float, requires_grad=True)
        for t in range(LENGTH):
            out = wp.zeros(HIDDEN, dtype=float, requires_grad=True)
            wp.launch(cell, dim=HIDDEN, inputs=[self.w, h, self.x, t], outputs=[out])
            h = out
        wp.launch(readout, dim=HIDDEN, inputs=[h], outputs=[loss])


def main():
    net = Network(11)
    optimizer = warp.optim.SGD([net.w.flatten()], lr=0.2)
    for it in range(4):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        with wp.Tape() as tape:
            net.forward(loss)
        tape.backward(loss)
        print("iter", it, "loss", loss.numpy()[0], "w", net.w.numpy().tolist(), "grad_w", net.w.grad.numpy().tolist())
        optimizer.step([net.w.grad.flatten()])
        tape.zero()


if __name__ == "__main__":
    wp.init()
    with wp.ScopedDevice("cpu"):
        main()
