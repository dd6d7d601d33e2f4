# expect: right
"""A kernel reads what it has just written, twice."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def tower(x: wp.array(dtype=float), a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = wp.sin(x[i])
    b[i] = a[i] * a[i] + x[i]
    c[i] = wp.cos(b[i]) * a[i]


@wp.kernel
def total(c: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, c[i])


x = wp.array([0.3, -0.7, 1.2], dtype=float, requires_grad=True)
for it in range(3):
    a, b, c = (wp.zeros(3, dtype=float, requires_grad=True) for _ in range(3))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(tower, dim=3, inputs=[x], outputs=[a, b, c])
        wp.launch(total, dim=3, inputs=[c], outputs=[loss])
    tape.backward(loss)
    g = x.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.1 * g)
    tape.zero()
