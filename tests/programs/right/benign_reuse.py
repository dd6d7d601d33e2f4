# expect: right, remark RG508
"""Buffers are used again after the last kernel that needs them, and a mask is rewritten where it is not read."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def mix(x: wp.array(dtype=float), mask: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = mask[i] * wp.sin(x[i]) + mask[i + 3] * 0.1


@wp.kernel
def add(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * a[i] + 1.0


@wp.kernel
def squares(a: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, a[i] * a[i])


x = wp.array([0.4, 0.9, -0.5], dtype=float, requires_grad=True)
for it in range(3):
    mask = wp.array([1.0, 0.5, 2.0, 1.0, 1.0, 1.0], dtype=float)
    a, b = (wp.zeros(3, dtype=float, requires_grad=True) for _ in range(2))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(mix, dim=3, inputs=[x, mask, a])
        wp.launch(add, dim=3, inputs=[a, b])
        wp.launch(add, dim=3, inputs=[b, a])
        wp.launch(squares, dim=3, inputs=[a, loss])
    mask[3:].fill_(9.0)
    tape.backward(loss)
    g = x.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.01 * g)
    tape.zero()
