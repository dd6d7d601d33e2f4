# expect: right
"""Fits a surface patch to measured distances by moving its vertices; queries of the mesh only say where to look."""

import numpy as np
import warp as wp

wp.set_device("cpu")
FLAT = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]], dtype=np.float32)
PROBES = np.array([[0.4, 0.5, 1.0], [0.9, 0.3, 0.8], [0.3, 1.0, 1.2], [0.6, 0.7, 0.9]], dtype=np.float32)


@wp.kernel
def lift(flat: wp.array(dtype=wp.vec3), height: wp.array(dtype=float), points: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    points[i] = flat[i] + wp.vec3(0.0, 0.0, 0.2 * wp.sin(height[i]))


@wp.kernel
def probe(
    surface: wp.uint64,
    points: wp.array(dtype=wp.vec3),
    at: wp.array(dtype=wp.vec3),
    height: wp.array(dtype=float),
    loss: wp.array(dtype=float),
):
    i = wp.tid()
    found = wp.mesh_query_point_no_sign(surface, at[i], 10.0)
    if found.result:
        u, v = found.u, found.v
        nearest = u * points[0] + v * points[1] + (1.0 - u - v) * points[2]
        d = wp.length(at[i] - nearest) - 0.6
        wp.atomic_add(loss, 0, d * d)
    if i < 3:
        wp.atomic_add(loss, 0, 0.05 * height[i] * height[i])


flat = wp.array(FLAT, dtype=wp.vec3)
at = wp.array(PROBES, dtype=wp.vec3)
height = wp.array([0.5, -0.3, 0.8], dtype=float, requires_grad=True)
surface = wp.Mesh(wp.array(FLAT, dtype=wp.vec3, requires_grad=True), wp.array([0, 1, 2], dtype=int))
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(lift, dim=3, inputs=[flat, height, surface.points])
        surface.refit()
        wp.launch(probe, dim=4, inputs=[surface.id, surface.points, at, height, loss])
    tape.backward(loss)
    g = height.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "height", height.numpy().tolist(), "grad_height", g.tolist())
    height.assign(height.numpy() - 0.5 * g)
    tape.zero()
