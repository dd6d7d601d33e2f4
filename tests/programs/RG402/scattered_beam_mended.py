# expect: right
"""Turns a beam's direction twice, each time in the components it has."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def scatter(angle: wp.array(dtype=float), aim: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    c = wp.cos(angle[i])
    s = wp.sin(angle[i])
    turned = c - s * 0.2
    up = s * angle[i] + c * turned
    d = wp.vec3(turned * up + 0.5 * s, up, -0.3)
    miss = d - aim[i]
    wp.atomic_add(loss, 0, wp.dot(miss, miss))


angle = wp.array([0.4, -0.8, 1.2], dtype=float, requires_grad=True)
aim = wp.array(np.array([[1.0, 0.0, 0.0], [0.2, 0.4, 0.1], [0.0, 1.0, 0.0]]), dtype=wp.vec3)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(scatter, dim=3, inputs=[angle, aim, loss])
    tape.backward(loss)
    g = angle.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "angle", angle.numpy().tolist(), "grad_angle", g.tolist())
    angle.assign(angle.numpy() - 0.02 * g)
    tape.zero()
