# expect: right
"""The seed is written into the loss's own gradient by hand, and backward is called without a loss."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def drag(c: wp.array(dtype=float), v: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, c[0] * v[i] * v[i] + c[1] * c[1] * v[i])


c = wp.array([0.5, 0.7], dtype=float, requires_grad=True)
v = wp.array([1.0, -0.4, 2.0], dtype=float)
loss = wp.zeros(1, dtype=float, requires_grad=True)
for it in range(3):
    loss.zero_()
    tape = wp.Tape()
    with tape:
        wp.launch(drag, dim=3, inputs=[c, v, loss])
    loss.grad.fill_(1.0)
    tape.backward()
    g = c.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "c", c.numpy().tolist(), "grad_c", g.tolist())
    c.assign(c.numpy() - 0.02 * g)
    tape.zero()
