# expect: right, remark RG510
"""The loss is read once more in every round, after it was cleared for the next one."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def drift(v: wp.array(dtype=float), t: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = v[0] * t[i] + v[1] * t[i] * t[i] - wp.sin(t[i])
    wp.atomic_add(loss, 0, d * d)


t = wp.array(np.linspace(0.0, 2.0, 8), dtype=float)
v = wp.array([0.4, 0.1], dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
host = np.linspace(0.0, 2.0, 8)
for it in range(4):
    tape = wp.Tape()
    with tape:
        wp.launch(drift, dim=8, inputs=[v, t, loss])
    tape.backward(loss)
    g = v.grad.numpy().copy()
    at = v.numpy().copy()
    loss.zero_()
    v.assign(at - 0.01 * g)
    tape.zero()
    shown = loss.numpy()[0]
    value = float(((at[0] * host + at[1] * host**2 - np.sin(host)) ** 2).sum()) + float(shown)
    print("iter", it, "loss", value, "v", at.tolist(), "grad_v", g.tolist())
