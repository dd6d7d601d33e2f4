# expect: right
"""A field gathers contributions in place, by +=, by a slice and by atomic adds, before anything reads it."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def source(q: wp.array(dtype=float), field: wp.array(dtype=float)):
    i = wp.tid()
    field[i] = 0.2 * q[i]


@wp.kernel
def spread(q: wp.array(dtype=float), field: wp.array(dtype=float)):
    i = wp.tid()
    field[i] += wp.sin(q[i])


@wp.kernel
def share(q: wp.array(dtype=float), field: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(field, (i + 1) % 4, q[i] * q[i])
    wp.atomic_sub(field, (i + 2) % 4, 0.5 * q[i])


@wp.kernel
def measure(field: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, field[i] * field[i])


q = wp.array([0.5, -0.2, 0.8, 0.3], dtype=float, requires_grad=True)
for it in range(3):
    field = wp.zeros(4, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(source, dim=4, inputs=[q, field])
        wp.launch(spread, dim=4, inputs=[q, field])
        wp.launch(share, dim=4, inputs=[q, field])
        wp.launch(spread, dim=2, inputs=[q[2:], field[:2]])
        wp.launch(measure, dim=4, inputs=[field, loss])
    tape.backward(loss)
    g = q.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "q", q.numpy().tolist(), "grad_q", g.tolist())
    q.assign(q.numpy() - 0.05 * g)
    tape.zero()
