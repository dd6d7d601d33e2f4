# expect: right
"""Linear interpolation in a table; the place within a cell comes from a built-in whose adjoint is zero."""

import numpy as np
import warp as wp


@wp.func
def lookup(table: wp.array(dtype=wp.float64), u: wp.float64):
    cell = int(u)
    f = u - wp.float64(cell)
    return (wp.float64(1.0) - f) * table[cell] + f * table[cell + 1]


@wp.kernel
def interpolate(x: wp.array(dtype=wp.float64), table: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = lookup(table, wp.float64(4.0) * x[i])


@wp.kernel
def power(out: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, out[i] * out[i])


def main():
    table = wp.array([0.0, 1.0, 0.3, -0.4, 0.8, 0.2], dtype=wp.float64)
    x = wp.array(np.array([0.1, 0.4, 0.6, 0.9]), dtype=wp.float64, requires_grad=True)
    for it in range(3):
        out = wp.zeros(4, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(interpolate, dim=4, inputs=[x, table, out])
            wp.launch(power, dim=4, inputs=[out, loss])
        tape.backward(loss)
        g = x.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "x", x.numpy().tolist(), "grad_x", g.tolist())
        x.assign(x.numpy() - 0.001 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
