# expect: wrong
"""A relaxation inside a time loop: the inner iteration works on two buffers for all time steps."""

import numpy as np
import warp as wp


@wp.kernel
def relax(p: wp.array(dtype=wp.float64), source: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    n = p.shape[0]
    mean = wp.float64(0.5) * (p[(i + n - 1) % n] + p[(i + 1) % n])
    out[i] = wp.float64(0.5) * mean + wp.float64(0.3) * source[i] - wp.float64(0.1) * p[i] * p[i]


@wp.kernel
def transport(s: wp.array(dtype=wp.float64), p: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    n = s.shape[0]
    out[i] = s[i] + wp.float64(0.2) * p[i] * (s[(i + 1) % n] - s[i])


@wp.kernel
def content(s: wp.array(dtype=wp.float64), p: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, s[i] * p[i])


class Solver:
    def __init__(self, cells):
        self.cells = cells
        self.rest = self.field()
        self.buffers = [self.field() for _ in range(2)]

    def field(self, values=None):
        values = np.zeros(self.cells) if values is None else values
        return wp.array(values, dtype=wp.float64, requires_grad=True)

    def pressure(self, source, sweeps=3):
        p = self.rest
        for k in range(sweeps):
            better = self.buffers[k % 2]
            wp.launch(relax, dim=self.cells, inputs=[p, source], outputs=[better])  # <- RG101
            p = better
        return p

    def run(self, source, steps, loss):
        for _ in range(steps):
            p = self.pressure(source)
            following = self.field()
            wp.launch(transport, dim=self.cells, inputs=[source, p], outputs=[following])
            wp.launch(content, dim=self.cells, inputs=[following, p], outputs=[loss])
            source = following


def main():
    solver = Solver(5)
    s = solver.field(np.array([0.4, 1.0, -0.3, 0.8, 0.1]))
    for it in range(3):
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            solver.run(s, 3, loss)
        tape.backward(loss)
        g = s.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "s", s.numpy().tolist(), "grad_s", g.tolist())
        s.assign(s.numpy() - 0.1 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
