# expect: right
"""One generic kernel fits a curve in single and in double precision."""

from typing import Any

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.func
def curve(a: Any, x: Any):
    return wp.sin(a * x) + a


@wp.kernel
def misfit(a: wp.array(dtype=Any), x: wp.array(dtype=Any), loss: wp.array(dtype=Any)):
    i = wp.tid()
    d = curve(a[i], x[i])
    wp.atomic_add(loss, 0, d * d)


wp.overload(misfit, [wp.array(dtype=float), wp.array(dtype=float), wp.array(dtype=float)])
x = np.array([0.5, -0.7, 1.1])
single = wp.array([0.9, 0.4, -0.6], dtype=wp.float32, requires_grad=True)
double = wp.array([0.3, -0.8, 1.2], dtype=wp.float64, requires_grad=True)
for it in range(3):
    line, total = [], 0.0
    for name, a in (("single", single), ("double", double)):
        loss = wp.zeros(1, dtype=a.dtype, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(misfit, dim=3, inputs=[a, wp.array(x, dtype=a.dtype), loss])
        tape.backward(loss)
        total += float(loss.numpy()[0])
        line += [name, a.numpy().tolist(), "grad_" + name, a.grad.numpy().tolist()]
        a.assign(a.numpy() - 0.1 * a.grad.numpy())
    single.grad.zero_()
    double.grad.zero_()
    print("iter", it, "loss", total, *line)
