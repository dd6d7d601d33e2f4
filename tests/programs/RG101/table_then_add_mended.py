# expect: right
"""A kernel reads back the table it wrote; a later one adds to that table."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def tabulate(x: wp.array(dtype=float), table: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    table[i] = wp.cos(0.7 * x[i] + 0.9)
    y[i] = wp.sin(1.5 * table[i])


@wp.kernel
def correct(y: wp.array(dtype=float), table: wp.array(dtype=float)):
    i = wp.tid()
    table[i] += 0.8 * y[i]


@wp.kernel
def add(y: wp.array(dtype=float), table: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = table[i] + 0.8 * y[i]


@wp.kernel
def total(a: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, a[i] * a[i])


weights = np.array([0.3, 0.9, -0.5, 1.3], dtype=np.float32)
for it in range(3):
    x = wp.array(weights, dtype=float, requires_grad=True)
    table, y, corrected = (wp.zeros(4, dtype=float, requires_grad=True) for _ in range(3))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(tabulate, dim=4, inputs=[x], outputs=[table, y])
        wp.launch(add, dim=4, inputs=[y, table], outputs=[corrected])
        wp.launch(total, dim=4, inputs=[corrected], outputs=[loss])
    tape.backward(loss)
    g = x.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", weights.tolist(), "grad_x", g.tolist())
    weights = weights - 0.2 * g
