# expect: right
"""Backtracking: the same buffers are used again, off the tape, to try steps."""

import numpy as np
import warp as wp


@wp.kernel
def bow(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = x[i] * x[i] - wp.float64(0.5) * wp.sin(wp.float64(3.0) * x[i])


@wp.kernel
def squares(y: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, y[i] * y[i])


class Search:
    def __init__(self, start):
        self.x = wp.array(start, dtype=wp.float64, requires_grad=True)
        self.y = wp.zeros(len(start), dtype=wp.float64, requires_grad=True)
        self.loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)

    def forward(self):
        self.loss.zero_()
        wp.launch(bow, dim=self.x.size, inputs=[self.x, self.y])
        wp.launch(squares, dim=self.x.size, inputs=[self.y, self.loss])

    def value(self, point):
        self.x.assign(point)
        self.forward()
        return self.loss.numpy().item()

    def step(self, it):
        tape = wp.Tape()
        with tape:
            self.forward()
        tape.backward(self.loss)
        g = self.x.grad.numpy().copy()
        tape.zero()
        at, value = self.x.numpy().copy(), self.loss.numpy().item()
        print("iter", it, "loss", value, "x", at.tolist(), "grad_x", g.tolist())
        rate = 1.0
        while self.value(at - rate * g) > value - 0.5 * rate * np.dot(g, g):
            rate *= 0.5


def main():
    search = Search([0.9, -0.4, 0.3])
    for it in range(3):
        search.step(it)


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
