# expect: wrong
"""The material of the next load case is written before the backward pass of this one."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def strain(e: wp.array(dtype=float), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = e[i] * wp.sin(x[i])


@wp.kernel
def harden(e: wp.array(dtype=float), it: int):
    i = wp.tid()
    e[i] = 1.0 + 0.6 * float(i + it)


@wp.kernel
def square(s: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, s[i] * s[i])


e = wp.array([2.0, 1.0, 0.5], dtype=float)
x = wp.array([0.4, 0.8, -0.3], dtype=float, requires_grad=True)
for it in range(3):
    s = wp.zeros(3, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    stiffness = e.numpy().tolist()
    tape = wp.Tape()
    with tape:
        wp.launch(strain, dim=3, inputs=[e, x, s])
        wp.launch(square, dim=3, inputs=[s, loss])
    wp.launch(harden, dim=3, inputs=[e, it])  # <- RG103
    tape.backward(loss)
    g = x.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", g.tolist(), "e", stiffness)
    x.assign(x.numpy() - 0.05 * g)
    tape.zero()
