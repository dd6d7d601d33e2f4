# expect: wrong
"""Joint rotations (quaternions) and shears (matrices) in double precision; their gradients are never cleared."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def pose(
    rotation: wp.array(dtype=wp.quatd),
    shear: wp.array(dtype=wp.mat33d),
    bone: wp.array(dtype=wp.vec3d),
    tip: wp.array(dtype=wp.vec3d),
):
    i = wp.tid()
    tip[i] = wp.quat_rotate(wp.normalize(rotation[i]), shear[i] * bone[i])


@wp.kernel
def misfit(tip: wp.array(dtype=wp.vec3d), goal: wp.array(dtype=wp.vec3d), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = tip[i] - goal[i]
    wp.atomic_add(loss, 0, wp.dot(d, d))


rng = np.random.default_rng(43)
rotation = wp.array(rng.normal(0.0, 1.0, (2, 4)), dtype=wp.quatd, requires_grad=True)
shear = wp.array(np.eye(3) + rng.normal(0.0, 0.2, (2, 3, 3)), dtype=wp.mat33d, requires_grad=True)
bone, goal = (wp.array(rng.normal(0.0, 1.0, (2, 3)), dtype=wp.vec3d) for _ in range(2))
for it in range(3):
    tip = wp.zeros(2, dtype=wp.vec3d, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(pose, dim=2, inputs=[rotation, shear, bone, tip])
        wp.launch(misfit, dim=2, inputs=[tip, goal, loss])
    tape.backward(loss)  # <- RG301
    line = ["iter", it, "loss", float(loss.numpy()[0])]
    for name, p in (("rotation", rotation), ("shear", shear)):
        line += [name, p.numpy().ravel().tolist(), "grad_" + name, p.grad.numpy().ravel().tolist()]
        p.assign(p.numpy() - 0.02 * p.grad.numpy())
    print(*line)
