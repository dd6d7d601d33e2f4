# expect: right
"""A small network; the activation is a kernel."""

import numpy as np
import warp as wp


@wp.kernel
def layer(w: wp.array2d(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(3):
        s += w[i, j] * x[j]
    y[i] = s


@wp.kernel
def output(y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - 0.4
    wp.atomic_add(loss, 0, d * d)


@wp.kernel
def activate(y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    if y[i] < 0.0:
        z[i] = 0.1 * y[i]
    else:
        z[i] = y[i]


def main():
    x = wp.array([0.5, -1.0, 0.8], dtype=float)
    start = np.array([[0.3, 0.9, 0.2], [0.7, -0.2, 0.4], [-0.6, 0.5, -0.3], [0.1, 0.3, 0.9]])
    w = wp.array(start, dtype=float, requires_grad=True)
    for it in range(3):
        y = wp.zeros(4, dtype=float, requires_grad=True)
        z = wp.zeros(4, dtype=float, requires_grad=True)
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(layer, dim=4, inputs=[w, x, y])
            wp.launch(activate, dim=4, inputs=[y, z])
            wp.launch(output, dim=4, inputs=[z, loss])
        tape.backward(loss)
        g = w.grad.numpy()
        print("iter", it, "loss", float(loss.numpy()[0]), "w", w.numpy().tolist(), "grad_w", g.tolist())
        w.assign(w.numpy() - 0.02 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
