# expect: right
"""A table is filled column by column, a column from the one before; a transposed view then labels another table."""

import numpy as np
import warp as wp

wp.set_device("cpu")
ROWS, COLUMNS = 3, 4


@wp.kernel
def following(rate: wp.array(dtype=float), before: wp.array(dtype=float), after: wp.array(dtype=float)):
    i = wp.tid()
    after[i] = before[i] * wp.exp(rate[i] * before[i])


@wp.kernel
def relabel(columns: wp.array2d(dtype=float)):
    i = wp.tid()
    columns[0, i] = float(i)


@wp.kernel
def total(table: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(loss, 0, table[i, j] * table[i, j])


rate = wp.array([0.3, -0.4, 0.2], dtype=float, requires_grad=True)
for it in range(3):
    table = wp.zeros((ROWS, COLUMNS), dtype=float, requires_grad=True)
    labels = wp.zeros((ROWS, COLUMNS), dtype=float)
    table[:, 0].assign(np.array([0.4, 0.9, 0.6], dtype=np.float32))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for j in range(COLUMNS - 1):
            wp.launch(following, dim=ROWS, inputs=[rate, table[:, j]], outputs=[table[:, j + 1]])
        wp.launch(relabel, dim=ROWS, inputs=[labels.transpose()])
        wp.launch(total, dim=(ROWS, COLUMNS - 1), inputs=[table[:, 1:], loss])
    tape.backward(loss)
    g = rate.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "rate", rate.numpy().tolist(), "grad_rate", g.tolist())
    rate.assign(rate.numpy() - 0.05 * g)
    tape.zero()
