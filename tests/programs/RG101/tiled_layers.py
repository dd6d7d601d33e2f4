# expect: wrong
"""Two layers computed by tiles; the second is stored over the input of the first."""

import numpy as np
import warp as wp

wp.set_device("cpu")
TILE = 4


@wp.kernel
def layer(w: wp.array2d(dtype=float), x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    left = wp.tile_load(w, shape=(TILE, TILE))
    right = wp.tile_load(x, shape=(TILE, TILE))
    product = wp.tile_zeros(shape=(TILE, TILE), dtype=float)
    wp.tile_matmul(left, right, product)
    wp.tile_store(y, wp.tile_map(wp.sin, product))


@wp.kernel
def squares(y: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    t = wp.tile_load(y, shape=(TILE, TILE))
    wp.tile_atomic_add(loss, wp.tile_sum(wp.tile_map(wp.mul, t, t)))


rng = np.random.default_rng(46)
weights = rng.normal(0.0, 0.5, (TILE, TILE)).astype(np.float32)
inputs = rng.normal(0.0, 0.8, (TILE, TILE)).astype(np.float32)
w = wp.array(weights, dtype=float, requires_grad=True)
for it in range(3):
    x = wp.array(inputs, dtype=float, requires_grad=True)
    y = wp.zeros((TILE, TILE), dtype=float, requires_grad=True)
    z = x
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch_tiled(layer, dim=[1], inputs=[w, x, y], block_dim=32)
        wp.launch_tiled(layer, dim=[1], inputs=[w, y, z], block_dim=32)  # <- RG101
        wp.launch_tiled(squares, dim=[1], inputs=[z, loss], block_dim=32)
    tape.backward(loss)
    g = w.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "w", w.numpy().ravel().tolist(), "grad_w", g.ravel().tolist())
    w.assign(w.numpy() - 0.05 * g)
    tape.zero()
