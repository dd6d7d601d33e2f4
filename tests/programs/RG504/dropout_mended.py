# expect: right
"""A network whose inputs are dropped at random, by a generator without a seed."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def layer(w: wp.array(dtype=float), x: wp.array(dtype=float), keep: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = wp.tanh(w[i] * x[i] * keep[i]) - 0.4
    wp.atomic_add(loss, 0, d * d)


rng = np.random.default_rng(3)
x = wp.array([0.5, 1.0, -0.8, 1.4], dtype=float)
w = wp.array([0.6, 0.3, 0.9, -0.5], dtype=float, requires_grad=True)
for it in range(3):
    keep = wp.array(rng.uniform(0.5, 1.5, 4), dtype=float)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(layer, dim=4, inputs=[w, x, keep, loss])
    tape.backward(loss)
    g = w.grad.numpy()
    print(
        "iter",
        it,
        "loss",
        float(loss.numpy()[0]),
        "w",
        w.numpy().tolist(),
        "grad_w",
        g.tolist(),
        "keep",
        keep.numpy().tolist(),
    )
    w.assign(w.numpy() - 0.2 * g)
    tape.zero()
