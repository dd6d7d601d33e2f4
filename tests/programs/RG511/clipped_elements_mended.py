# expect: right
"""The step follows the gradient."""

import warp as wp

wp.set_device("cpu")
RATE = 0.002


@wp.kernel
def steep(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    d = x[(i + 1) % n] - x[i] * x[i]
    wp.atomic_add(loss, 0, 4.0 * d * d + 0.5 * x[i])


x = wp.array([1.3, -0.7, 0.4, 0.9, 0.1], dtype=float, requires_grad=True)
for it in range(4):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(steep, dim=5, inputs=[x, loss])
    tape.backward(loss)
    g = x.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - RATE * g)
    tape.zero()
