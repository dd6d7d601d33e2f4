# expect: right
"""Second differences from three overlapping slices of one array, none of which is written."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 9


@wp.kernel
def bend(
    low: wp.array(dtype=float), mid: wp.array(dtype=float), high: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    c = low[i] - 2.0 * mid[i] + high[i]
    out[i] = c * c / (1.0 + mid[i] * mid[i])


@wp.kernel
def total(a: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, a[wp.tid()])


x = wp.array(np.sin(np.arange(N)), dtype=float, requires_grad=True)
for it in range(3):
    out = wp.zeros(N, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(bend, dim=N - 2, inputs=[x[:-2], x[1:-1], x[2:], out[1:-1]])
        wp.launch(total, dim=N, inputs=[out, loss])
    tape.backward(loss)
    g = x.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.02 * g)
    tape.zero()
