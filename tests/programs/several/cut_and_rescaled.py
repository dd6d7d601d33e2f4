# expect: wrong by all
"""Two faults at once: a field has no gradient, and the mean is reported while the sum is differentiated."""

import numpy as np
import warp as wp


@wp.kernel
def project(w: wp.array(dtype=wp.float64), x: wp.array(dtype=wp.float64), h: wp.array(dtype=wp.float64)):
    i = wp.tid()
    h[i] = wp.tanh(w[0] * x[i])


@wp.kernel
def compare(
    w: wp.array(dtype=wp.float64),
    h: wp.array(dtype=wp.float64),
    y: wp.array(dtype=wp.float64),
    r: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    d = w[1] * h[i] + w[0] - y[i]
    r[i] = d * d


def main():
    grid = np.linspace(-1.0, 1.0, 8)
    x, y = wp.array(grid, dtype=wp.float64), wp.array(np.sin(grid), dtype=wp.float64)
    w = wp.array([0.4, 0.7], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        h = wp.zeros(8, dtype=wp.float64)  # <- RG201
        r = wp.zeros(8, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(project, dim=8, inputs=[w, x, h])
            wp.launch(compare, dim=8, inputs=[w, h, y, r])
        tape.backward(grads={r: wp.ones(8, dtype=wp.float64)})  # <- RG305
        g = w.grad.numpy()
        print("iter", it, "loss", r.numpy().mean(), "w", w.numpy().tolist(), "grad_w", g.tolist())
        w.assign(w.numpy() - 0.05 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
