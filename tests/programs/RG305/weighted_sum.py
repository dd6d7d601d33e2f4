# expect: wrong
"""Fits a spectrum; what is reported divides the sum by the number of lines, the seed does not."""

import numpy as np
import warp as wp


@wp.kernel
def line(
    p: wp.array(dtype=wp.float64),
    f: wp.array(dtype=wp.float64),
    y: wp.array(dtype=wp.float64),
    misfit: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    u = (f[i] - p[1]) / p[2]
    d = p[0] / (wp.float64(1.0) + u * u) - y[i]
    misfit[i] = d * d


def fit(rounds):
    grid = np.linspace(-1.0, 1.0, 15)
    f = wp.array(grid, dtype=wp.float64)
    y = wp.array(2.0 / (1.0 + ((grid - 0.1) / 0.4) ** 2), dtype=wp.float64)
    p = np.array([1.2, -0.2, 0.6])
    for it in range(rounds):
        unknown = wp.array(p, dtype=wp.float64, requires_grad=True)
        misfit = wp.zeros(grid.size, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(line, dim=grid.size, inputs=[unknown, f, y, misfit])
        seed = wp.ones(grid.size, dtype=wp.float64)
        tape.backward(grads={misfit: seed})  # <- RG305
        g = unknown.grad.numpy()
        value = misfit.numpy().sum() / grid.size
        print("iter", it, "loss", value, "p", p.tolist(), "grad_p", g.tolist())
        p = p - 0.01 * g


if __name__ == "__main__":
    wp.set_device("cpu")
    fit(3)
