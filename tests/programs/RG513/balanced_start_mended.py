# expect: right
"""Two factors that start away from zero."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 4


@wp.kernel
def product(
    u: wp.array(dtype=wp.float64),
    v: wp.array(dtype=wp.float64),
    target: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i, j = wp.tid()
    d = u[i] * v[j] - target[i * 4 + j]
    wp.atomic_add(loss, 0, d * d)


rng = np.random.default_rng(51)
target = wp.array(np.outer([1.0, -0.5, 0.8, 0.3], [0.7, 0.9, -0.4, 1.1]).ravel(), dtype=wp.float64)
u = wp.array(0.5 * rng.normal(size=N), dtype=wp.float64, requires_grad=True)
v = wp.array(0.5 * rng.normal(size=N), dtype=wp.float64, requires_grad=True)
for it in range(3):
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(product, dim=(N, N), inputs=[u, v, target, loss])
    tape.backward(loss)
    gu, gv = u.grad.numpy().copy(), v.grad.numpy().copy()
    at = u.numpy().tolist(), v.numpy().tolist()
    print("iter", it, "loss", loss.numpy().item(), "u", at[0], "v", at[1], "grad_u", gu.tolist(), "grad_v", gv.tolist())
    u.assign(u.numpy() - 0.02 * gu)
    v.assign(v.numpy() - 0.02 * gv)
    tape.zero()
