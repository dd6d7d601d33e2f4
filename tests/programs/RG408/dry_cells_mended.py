# expect: right
"""Flow out of cells, some of which are dry; the dry ones are masked."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def outflow(
    water: wp.array(dtype=float), bed: wp.array(dtype=float), seen: wp.array(dtype=float), loss: wp.array(dtype=float)
):
    i = wp.tid()
    depth = water[i] - bed[i]
    q = 0.1 * depth
    if depth > 0.0:
        q = 1.7 * depth * wp.sqrt(depth)
    d = q - seen[i]
    wp.atomic_add(loss, 0, d * d)


water = wp.array([0.8, 0.5, 1.2, 0.3], dtype=float, requires_grad=True)
bed = wp.array([0.2, 0.6, 0.3, 0.7], dtype=float)
seen = wp.array([0.5, 0.1, 1.0, 0.0], dtype=float)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(outflow, dim=4, inputs=[water, bed, seen, loss])
    tape.backward(loss)
    g = water.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "water", water.numpy().tolist(), "grad_water", g.tolist())
    water.assign(water.numpy() - 0.01 * np.nan_to_num(g))
    tape.zero()
