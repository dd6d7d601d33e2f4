# expect: right
"""Fits a quadratic surface; the tape is cleared one line before the gradient is read."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def surface(c: wp.array(dtype=float), xy: wp.array(dtype=wp.vec2), z: wp.array(dtype=float), r: wp.array(dtype=float)):
    i = wp.tid()
    p = xy[i]
    r[i] = c[0] + c[1] * p[0] + c[2] * p[0] * p[1] - z[i]


@wp.kernel
def squares(r: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, r[i] * r[i])


rng = np.random.default_rng(4)
points = rng.uniform(-1.0, 1.0, (8, 2))
xy = wp.array(points, dtype=wp.vec2)
z = wp.array(1.0 - points[:, 0] + 0.5 * points[:, 0] * points[:, 1], dtype=float)
c = wp.array([0.2, 0.1, -0.3], dtype=float, requires_grad=True)
for it in range(3):
    r = wp.zeros(8, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(surface, dim=8, inputs=[c, xy, z, r])
        wp.launch(squares, dim=8, inputs=[r, loss])
    tape.backward(loss)
    value = float(loss.numpy()[0])
    g = c.grad.numpy().copy()
    tape.zero()
    print("iter", it, "loss", value, "c", c.numpy().tolist(), "grad_c", g.tolist())
    c.assign(c.numpy() - 0.03 * g)
