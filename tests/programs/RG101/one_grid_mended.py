# expect: right
"""Particles push each other apart for three steps, each with a grid of neighbours of its own."""

import numpy as np
import warp as wp

wp.set_device("cpu")
REACH = 0.4
N = 12
STEPS = 3


@wp.kernel
def push(grid: wp.uint64, p: wp.array(dtype=wp.vec3), k: wp.array(dtype=float), q: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    force = wp.vec3()
    for j in wp.hash_grid_query(grid, p[i], REACH):
        apart = p[i] - p[j]
        gap = REACH - wp.length(apart)
        if j != i and gap > 0.0:
            force += k[i] * gap * gap * apart
    wind = wp.vec3(0.5 * wp.sin(7.0 * float(i)), 0.3 * wp.cos(5.0 * float(i)), 0.0)
    q[i] = p[i] + 4.0 * force + wind


@wp.kernel
def spread(p: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(p[i], p[i]))


rng = np.random.default_rng(3)
start = wp.array(rng.uniform(0.0, 1.0, (N, 3)) * [3.0, 1.0, 0.2], dtype=wp.vec3)
k = wp.array(np.linspace(0.5, 1.5, N), dtype=float, requires_grad=True)
grids = [wp.HashGrid(16, 16, 16) for _ in range(STEPS)]
for it in range(3):
    ps = [start] + [wp.zeros(N, dtype=wp.vec3, requires_grad=True) for _ in range(STEPS)]
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for t in range(STEPS):
            grids[t].build(ps[t], REACH)
            wp.launch(push, dim=N, inputs=[grids[t].id, ps[t], k, ps[t + 1]])
        wp.launch(spread, dim=N, inputs=[ps[STEPS], loss])
    tape.backward(loss)
    g = k.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.05 * g)
    tape.zero()
