# expect: right
"""A layer computed by tiles of a matrix."""

import numpy as np
import warp as wp

wp.set_device("cpu")
TILE = 4


@wp.kernel
def layer(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = wp.tile_zeros(shape=(TILE, TILE), dtype=float)
    for k in range(2):
        left = wp.tile_load(a, shape=(TILE, TILE), offset=(i * TILE, k * TILE))
        right = wp.tile_load(b, shape=(TILE, TILE), offset=(k * TILE, j * TILE))
        wp.tile_matmul(left, right, total)
    wp.tile_store(out, total, offset=(i * TILE, j * TILE))


@wp.kernel
def squares(out: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(loss, 0, wp.sin(out[i, j]))


rng = np.random.default_rng(13)
inputs = rng.normal(0.0, 0.5, (4, 8)).astype(np.float32)
weights = rng.normal(0.0, 0.5, (8, 4)).astype(np.float32)
a = wp.array(inputs, dtype=float)
b = wp.array(weights, dtype=float, requires_grad=True)
for it in range(3):
    out = wp.zeros((4, 4), dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch_tiled(layer, dim=(1, 1), inputs=[a, b, out], block_dim=32)
        wp.launch(squares, dim=(4, 4), inputs=[out, loss])
    tape.backward(loss)
    g = b.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "b", b.numpy().tolist(), "grad_b", g.tolist())
    b.assign(b.numpy() - 0.05 * g)
    tape.zero()
