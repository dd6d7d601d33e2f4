# expect: wrong
"""The grid of neighbours is built over the next frame before the backward pass of this one."""

import numpy as np
import warp as wp

wp.set_device("cpu")
REACH = 0.4
N = 12


@wp.kernel
def repulsion(grid: wp.uint64, p: wp.array(dtype=wp.vec3), k: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    for j in wp.hash_grid_query(grid, p[i], REACH):
        apart = wp.length(p[i] - p[j])
        if j != i and apart < REACH:
            wp.atomic_add(loss, 0, k[i] * k[i] * (REACH - apart) * (REACH - apart))


rng = np.random.default_rng(21)
frames = [wp.array(rng.uniform(0.0, 1.0, (N, 3)) * [3.0, 1.0, 0.2], dtype=wp.vec3) for _ in range(4)]
k = wp.array(np.linspace(0.5, 1.5, N), dtype=float, requires_grad=True)
neighbours = wp.HashGrid(16, 16, 16)
neighbours.build(frames[0], REACH)
for it in range(3):
    p = frames[it]
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(repulsion, dim=N, inputs=[neighbours.id, p, k, loss])
    neighbours.build(frames[it + 1], REACH)  # <- RG103
    tape.backward(loss)
    g = k.grad.numpy()
    values = k.numpy().tolist(), p.numpy().tolist()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", values[0], "grad_k", g.tolist(), "p", values[1])
    k.assign(k.numpy() - 0.05 * g)
    tape.zero()
