# expect: right, remark RG508
"""A linear wave between two sets of buffers: the states that are overwritten are never needed again."""

import numpy as np
import warp as wp

wp.set_device("cpu")
CELLS, STEPS = 6, 5


@wp.kernel
def wave(u: wp.array(dtype=wp.vec2), out: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    left = u[(i + CELLS - 1) % CELLS]
    right = u[(i + 1) % CELLS]
    v = u[i][1] + 0.2 * (left[0] + right[0] - 2.0 * u[i][0])
    out[i] = wp.vec2(u[i][0] + 0.5 * v, v)


@wp.kernel
def energy(u: wp.array(dtype=wp.vec2), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(u[i], u[i]))


rng = np.random.default_rng(12)
start = rng.normal(size=(CELLS, 2)).astype(np.float32)
for it in range(3):
    first = wp.array(start, dtype=wp.vec2, requires_grad=True)
    a, b = wp.clone(first), wp.zeros(CELLS, dtype=wp.vec2, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.copy(a, first)
        for _ in range(STEPS):
            wp.launch(wave, dim=CELLS, inputs=[a], outputs=[b])
            a, b = b, a
        wp.launch(energy, dim=CELLS, inputs=[a, loss])
    tape.backward(loss)
    g = first.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "first", start.tolist(), "grad_first", g.tolist())
    start = start - 0.05 * g
