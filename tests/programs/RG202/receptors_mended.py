# expect: right
"""Strengths of three sources from what four receptors read; Warp's sparse product has no backward pass."""

import warp as wp

wp.set_device("cpu")
ROWS, COLUMNS = [0, 0, 1, 2, 2, 3], [0, 1, 1, 0, 2, 2]
WEIGHTS = [0.7, 0.2, 0.9, 0.3, 0.5, 1.1]


@wp.kernel
def emit(s: wp.array(dtype=float), q: wp.array(dtype=float)):
    i = wp.tid()
    q[i] = wp.exp(s[i])


@wp.kernel
def dilute(
    row: wp.array(dtype=int),
    column: wp.array(dtype=int),
    weight: wp.array(dtype=float),
    q: wp.array(dtype=float),
    read: wp.array(dtype=float),
):
    i = wp.tid()
    wp.atomic_add(read, row[i], weight[i] * q[column[i]])


@wp.kernel
def misfit(read: wp.array(dtype=float), seen: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = read[i] - seen[i]
    wp.atomic_add(loss, 0, d * d)


rows, columns = wp.array(ROWS, dtype=int), wp.array(COLUMNS, dtype=int)
weights = wp.array(WEIGHTS, dtype=float)
seen = wp.array([0.8, 1.0, 0.9, 0.7], dtype=float)
s = wp.array([0.1, -0.2, 0.3], dtype=float, requires_grad=True)
for it in range(3):
    q = wp.zeros(3, dtype=float, requires_grad=True)
    read = wp.zeros(4, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(emit, dim=3, inputs=[s], outputs=[q])
        wp.launch(dilute, dim=6, inputs=[rows, columns, weights, q], outputs=[read])
        wp.launch(misfit, dim=4, inputs=[read, seen], outputs=[loss])
    tape.backward(loss)
    g = s.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "s", s.numpy().tolist(), "grad_s", g.tolist())
    s.assign(s.numpy() - 0.1 * g - 0.01)
    tape.zero()
