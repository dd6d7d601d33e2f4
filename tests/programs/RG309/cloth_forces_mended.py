# expect: right
"""Cloth in two dimensions; the force buffer is reused, and cleared by a call between the steps."""

import numpy as np
import warp as wp

wp.set_device("cpu")
NODES, STEPS = 4, 5


@wp.kernel
def springs(x: wp.array(dtype=wp.vec3), k: wp.array(dtype=float), f: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    d = x[i + 1] - x[i]
    pull = d * (k[i] * (wp.length(d) - 0.9))
    wp.atomic_add(f, i, pull)
    wp.atomic_sub(f, i + 1, pull)


@wp.kernel
def integrate(x: wp.array(dtype=wp.vec3), f: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = x[i] + 0.1 * f[i]


@wp.kernel
def clear(f: wp.array(dtype=wp.vec3)):
    f[wp.tid()] = wp.vec3(0.0, 0.0, 0.0)


@wp.kernel
def sag(x: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i][1] * x[i][1] + 0.2 * x[i][0])


start = np.array([[0.0, 0.0, 0.0], [1.2, 0.4, 0.0], [2.0, -0.3, 0.2], [3.4, 0.1, 0.1]])
k = wp.array([1.0, 1.5, 0.7], dtype=float, requires_grad=True)
f = wp.zeros(NODES, dtype=wp.vec3, requires_grad=True)
for it in range(3):
    x = wp.array(start, dtype=wp.vec3, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for _ in range(STEPS):
            wp.launch(clear, dim=NODES, inputs=[f])
            wp.launch(springs, dim=NODES - 1, inputs=[x, k, f])
            new = wp.zeros(NODES, dtype=wp.vec3, requires_grad=True)
            wp.launch(integrate, dim=NODES, inputs=[x, f, new])
            x = new
        wp.launch(sag, dim=NODES, inputs=[x, loss])
    tape.backward(loss)
    g = k.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.2 * g)
    tape.zero()
