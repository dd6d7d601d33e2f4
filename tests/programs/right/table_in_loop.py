# expect: right
"""Powers of a number are kept in a table that one thread fills and reads in a loop."""

import warp as wp

TERMS = 8


@wp.kernel
def series(x: wp.array(dtype=wp.float64), table: wp.array2d(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    table[i, 0] = wp.float64(1.0)
    for k in range(1, TERMS):
        table[i, k] = table[i, k - 1] * x[i] * wp.float64(0.5)
    total = wp.float64(0.0)
    for k in range(TERMS):
        total += table[i, k]
    out[i] = total


@wp.kernel
def squares(out: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = out[i] - wp.float64(1.5)
    wp.atomic_add(loss, 0, d * d)


def main():
    x = wp.array([0.2, 0.9, -0.6], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        table = wp.zeros((3, TERMS), dtype=wp.float64, requires_grad=True)
        out = wp.zeros(3, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(series, dim=3, inputs=[x, table, out])
            wp.launch(squares, dim=3, inputs=[out, loss])
        tape.backward(loss)
        g = x.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "x", x.numpy().tolist(), "grad_x", g.tolist())
        x.assign(x.numpy() - 0.1 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
