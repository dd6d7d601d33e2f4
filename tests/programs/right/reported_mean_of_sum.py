# expect: right
"""A sum is differentiated and reported; its mean is printed beside it, for the reader only."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 10


@wp.kernel
def residual(
    c: wp.array(dtype=float),
    t: wp.array(dtype=float),
    y: wp.array(dtype=float),
    r: wp.array(dtype=float),
    loss: wp.array(dtype=float),
):
    i = wp.tid()
    d = c[0] + wp.sin(c[1] * t[i]) - y[i]
    r[i] = d
    wp.atomic_add(loss, 0, d * d)


times = np.linspace(0.0, 2.0, N)
t = wp.array(times, dtype=float)
y = wp.array(0.4 + np.sin(1.2 * times), dtype=float)
c = wp.array([0.1, 0.8], dtype=float, requires_grad=True)
for it in range(3):
    r = wp.zeros(N, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(residual, dim=N, inputs=[c, t, y, r, loss])
    tape.backward(loss)
    g = c.grad.numpy()
    mean = float(np.mean(np.square(r.numpy())))
    print("mean", mean, "root", mean**0.5, "worst", float(np.abs(r.numpy()).max()))
    print("iter", it, "loss", float(loss.numpy()[0]), "c", c.numpy().tolist(), "grad_c", g.tolist())
    c.assign(c.numpy() - 0.02 * g)
    tape.zero()
