# expect: right
"""Places probes at a distance from a mesh that moves in between; a grid of neighbours keeps the probes apart."""

import numpy as np
import warp as wp

N = 4


@wp.kernel
def sway(flat: wp.array(dtype=wp.vec3), t: float, points: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    points[i] = flat[i] + wp.vec3(0.0, 0.0, 0.1 * wp.sin(t + float(i)))


@wp.kernel
def drift(
    mesh: wp.uint64,
    grid: wp.uint64,
    p: wp.array(dtype=wp.vec3),
    wind: wp.array(dtype=wp.vec3),
    q: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    found = wp.mesh_query_point_no_sign(mesh, p[i], 10.0)
    move = 0.1 * wind[i]
    if found.result:
        move += 0.2 * (p[i] - wp.mesh_eval_position(mesh, found.face, found.u, found.v))
    for j in wp.hash_grid_query(grid, p[i], 2.0):
        apart = p[i] - p[j]
        move += 0.05 * apart * wp.exp(-wp.dot(apart, apart))
    q[i] = p[i] + move


@wp.kernel
def score(p: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(p[i], p[i]))


def main():
    flat = wp.array([[-3.0, -3.0, 0.0], [5.0, -3.0, 0.0], [-3.0, 5.0, 0.0]], dtype=wp.vec3)
    start = wp.array([[0.1, 0.2, 0.9], [0.5, 0.1, 0.7], [0.2, 0.6, 1.1], [0.7, 0.6, 0.8]], dtype=wp.vec3)
    wind = wp.array(0.3 * np.sin(np.arange(3 * N)).reshape(N, 3), dtype=wp.vec3, requires_grad=True)
    grid = wp.HashGrid(8, 8, 8)
    indices = wp.array([0, 1, 2], dtype=int)
    for it in range(3):
        ps = [start] + [wp.zeros(N, dtype=wp.vec3, requires_grad=True) for _ in range(2)]
        meshes = [wp.Mesh(wp.clone(flat), indices) for _ in range(2)]
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        grid.build(start, 2.0)
        tape = wp.Tape()
        with tape:
            for t in range(2):
                wp.launch(sway, dim=3, inputs=[flat, 0.5 * t, meshes[t].points])
                meshes[t].refit()
                wp.launch(drift, dim=N, inputs=[meshes[t].id, grid.id, ps[t], wind, ps[t + 1]])
            wp.launch(score, dim=N, inputs=[ps[2], loss])
        tape.backward(loss)
        g = wind.grad.numpy()
        print("iter", it, "loss", float(loss.numpy()[0]), "wind", wind.numpy().tolist(), "grad_wind", g.tolist())
        wind.assign(wind.numpy() - 0.2 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
