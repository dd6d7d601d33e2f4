# expect: right
"""Rows of a table are weighted by native code that works on the arrays themselves."""

import numpy as np
import warp as wp

WEIGH = "out[row] = w[0] * table[2 * row] * table[2 * row] + w[1] * w[1] * table[2 * row + 1];"
BACK = """
wp::atomic_add(adj_w, 0, table[2 * row] * table[2 * row] * adj_out[row]);
wp::atomic_add(adj_w, 1, 2.0 * w[1] * table[2 * row + 1] * adj_out[row]);
adj_out[row] = 0.0;
"""


Array = wp.array(dtype=wp.float64)


@wp.func_native(WEIGH, adj_snippet=BACK)
def weigh(w: Array, table: Array, out: Array, row: int): ...


@wp.kernel
def rows(w: wp.array(dtype=wp.float64), table: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    weigh(w, table, out, i)


@wp.kernel
def total(out: wp.array(dtype=wp.float64), w: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, out[i] * out[i] + w[0] * w[0] * wp.float64(0.1))


def main():
    w = wp.array([0.6, 0.9], dtype=wp.float64, requires_grad=True)
    table = wp.array(np.linspace(0.2, 1.2, 6), dtype=wp.float64)
    for it in range(3):
        out = wp.zeros(3, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(rows, dim=3, inputs=[w, table], outputs=[out])
            wp.launch(total, dim=3, inputs=[out, w], outputs=[loss])
        tape.backward(loss)
        g = w.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "w", w.numpy().tolist(), "grad_w", g.tolist())
        w.assign(w.numpy() - 0.02 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
