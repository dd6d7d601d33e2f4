# expect: right
"""The same fit from several starting points, one after the other, by one function."""

import numpy as np
import warp as wp


@wp.kernel
def well(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    u = x[i] * x[i] - wp.float64(1.0)
    wp.atomic_add(loss, 0, u * u + wp.float64(0.2) * x[i])


def descend(start, count, first):
    x = wp.array(start, dtype=wp.float64, requires_grad=True)
    for k in range(count):
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(well, dim=x.size, inputs=[x, loss])
        tape.backward(loss)
        g = x.grad.numpy().copy()
        print("iter", first + k, "loss", loss.numpy()[0], "x", x.numpy().tolist(), "grad_x", g.tolist())
        x.assign(x.numpy() - 0.03 * g)
        tape.zero()
    return x.numpy().copy()


def main():
    ends = [descend(start, 2, 2 * n) for n, start in enumerate(([0.3, -0.4], [1.4, 0.6], [-1.2, -0.1]))]
    print("ends", np.round(ends, 3).tolist())


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
