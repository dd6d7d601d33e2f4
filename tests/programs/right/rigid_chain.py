# expect: right
"""A chain of rotations as quaternions, momentum in a kernel, parameters updated on the device."""

import numpy as np
import warp as wp

wp.set_device("cpu")
LINKS = 3


@wp.kernel
def chain(angle: wp.array(dtype=float), axis: wp.array(dtype=wp.vec3), tip: wp.array(dtype=wp.vec3)):
    q = wp.quat_identity()
    p = wp.vec3(0.0, 0.0, 0.0)
    for i in range(LINKS):
        q = q * wp.quat_from_axis_angle(axis[i], angle[i])
        p = p + wp.quat_rotate(q, wp.vec3(0.0, 0.0, 1.0))
    tip[0] = p


@wp.kernel
def reach(tip: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    d = tip[0] - wp.vec3(1.0, 1.0, 1.0)
    loss[0] = wp.dot(d, d)


@wp.kernel(enable_backward=False)
def momentum(x: wp.array(dtype=float), v: wp.array(dtype=float), g: wp.array(dtype=float)):
    i = wp.tid()
    v[i] = 0.6 * v[i] - 0.03 * g[i]
    x[i] = x[i] + v[i]


axes = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
axis = wp.array(axes, dtype=wp.vec3)
angle = wp.array([0.3, 0.5, -0.2], dtype=float, requires_grad=True)
velocity = wp.zeros(LINKS, dtype=float)
for it in range(4):
    tip = wp.zeros(1, dtype=wp.vec3, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(chain, dim=1, inputs=[angle, axis, tip])
        wp.launch(reach, dim=1, inputs=[tip, loss])
    tape.backward(loss)
    print(
        "iter",
        it,
        "loss",
        float(loss.numpy()[0]),
        "angle",
        angle.numpy().tolist(),
        "grad_angle",
        angle.grad.numpy().tolist(),
    )
    wp.launch(momentum, dim=LINKS, inputs=[angle, velocity, angle.grad])
    tape.zero()
