# expect: wrong
"""The helper that evaluates runs backward, and so does the loop that calls it."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def orbit(a: wp.array(dtype=wp.float64), t: wp.array(dtype=wp.float64), r: wp.array(dtype=wp.float64)):
    i = wp.tid()
    r[i] = a[0] * (wp.float64(1.0) - a[1] * wp.cos(t[i])) - wp.float64(1.2)


@wp.kernel
def mean_square(r: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for i in range(7):
        s += r[i] * r[i]
    loss[0] = s / wp.float64(7.0)


times = wp.array(np.linspace(0.0, 3.0, 7), dtype=wp.float64)


def evaluate(a):
    residual = wp.zeros(7, dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(orbit, dim=7, inputs=[a, times], outputs=[residual])
        wp.launch(mean_square, dim=1, inputs=[residual], outputs=[loss])
    tape.backward(loss)
    return tape, loss


a = wp.array([1.6, 0.4], dtype=wp.float64, requires_grad=True)
for it in range(3):
    tape, loss = evaluate(a)
    tape.backward(loss)  # <- RG304
    g = a.grad.numpy().copy()
    print("iter", it, "loss", loss.numpy().item(), "a", a.numpy().tolist(), "grad_a", g.tolist())
    a.assign(a.numpy() - 0.1 * g)
    tape.zero()
