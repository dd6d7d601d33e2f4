# expect: wrong
"""The tree of boxes follows the boxes to where they drift before the backward pass."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 10


@wp.kernel
def lit(tree: wp.uint64, at: wp.array(dtype=wp.vec3), glow: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    margin = wp.vec3(0.1, 0.1, 0.1)
    query = wp.bvh_query_aabb(tree, at[i] - margin, at[i] + margin)
    box = wp.int32(0)
    while wp.bvh_query_next(query, box):
        wp.atomic_add(loss, 0, 0.1 * glow[box] * glow[box] * wp.exp(-at[i][0]))


@wp.kernel
def drift(by: float, lowers: wp.array(dtype=wp.vec3), uppers: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    step = wp.vec3(by * float(1 + i % 3), -by, 0.0)
    lowers[i] = lowers[i] + step
    uppers[i] = uppers[i] + step


rng = np.random.default_rng(22)
corners = rng.uniform(0.0, 1.0, (N, 3)) * [2.0, 1.0, 0.1]
lowers = wp.array(corners, dtype=wp.vec3)
uppers = wp.array(corners + 0.3, dtype=wp.vec3)
at = wp.array(rng.uniform(0.0, 1.0, (8, 3)) * [2.0, 1.0, 0.1] + 0.1, dtype=wp.vec3)
glow = wp.array(np.linspace(0.5, 1.5, N), dtype=float, requires_grad=True)
tree = wp.Bvh(lowers, uppers)
for it in range(3):
    low, high = lowers.numpy().tolist(), uppers.numpy().tolist()
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(lit, dim=8, inputs=[tree.id, at, glow, loss])
    wp.launch(drift, dim=N, inputs=[0.2, lowers, uppers])
    tree.refit()  # <- RG103
    tape.backward(loss)
    g = glow.grad.numpy()
    values = glow.numpy().tolist(), at.numpy().tolist()
    print("iter", it, "loss", float(loss.numpy()[0]), "glow", values[0], "grad_glow", g.tolist(), end=" ")
    print("at", values[1], "low", low, "high", high)
    glow.assign(glow.numpy() - 0.05 * g)
    tape.zero()
