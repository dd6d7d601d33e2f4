# expect: right
"""Particles that repel their neighbours, found with a hash grid, summed in a loop of unknown length."""

import numpy as np
import warp as wp

wp.set_device("cpu")
RADIUS = 0.8


@wp.kernel
def energy(grid: wp.uint64, p: wp.array(dtype=wp.vec3), k: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    x = p[i]
    for j in wp.hash_grid_query(grid, x, RADIUS):
        d = wp.length(x - p[j])
        if j != i and d < RADIUS:
            wp.atomic_add(loss, 0, k[i] * (RADIUS - d) * (RADIUS - d) + 0.01 * k[i] * k[i])


rng = np.random.default_rng(14)
p = wp.array(rng.uniform(0.0, 1.0, (8, 3)), dtype=wp.vec3)
k = wp.array(np.linspace(0.5, 1.5, 8), dtype=float, requires_grad=True)
grid = wp.HashGrid(8, 8, 8, device="cpu")
grid.build(p, RADIUS)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(energy, dim=8, inputs=[grid.id, p, k, loss])
    tape.backward(loss)
    g = k.grad.numpy()
    print(
        "iter",
        it,
        "loss",
        float(loss.numpy()[0]),
        "k",
        k.numpy().tolist(),
        "grad_k",
        g.tolist(),
        "p",
        p.numpy().tolist(),
    )
    k.assign(k.numpy() - 0.05 * g)
    tape.zero()
