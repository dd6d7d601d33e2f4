# expect: right
"""A model is validated on the same buffers after every second step, and training stops early."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 6


@wp.kernel
def model(w: wp.array(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = w[0] * wp.sin(w[1] * x[i])


@wp.kernel
def mismatch(y: wp.array(dtype=float), t: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - t[i]
    wp.atomic_add(loss, 0, d * d)


def target(x):
    return wp.array(1.3 * np.sin(1.1 * x), dtype=float)


grid = np.linspace(-1.0, 1.0, N)
x, held = wp.array(grid, dtype=float), wp.array(grid + 0.2, dtype=float)
t, t_held = target(grid), target(grid + 0.2)
w = wp.array([0.7, 0.8], dtype=float, requires_grad=True)
y = wp.zeros(N, dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
best = float("inf")
for it in range(6):
    loss.zero_()
    tape = wp.Tape()
    with tape:
        wp.launch(model, dim=N, inputs=[w, x, y])
        wp.launch(mismatch, dim=N, inputs=[y, t, loss])
    tape.backward(loss)
    value = float(loss.numpy()[0])
    g = w.grad.numpy()
    print("iter", it, "loss", value, "w", w.numpy().tolist(), "grad_w", g.tolist())
    w.assign(w.numpy() - 0.02 * g)
    tape.zero()
    if it % 2 == 1:
        loss.zero_()
        wp.launch(model, dim=N, inputs=[w, held, y])
        wp.launch(mismatch, dim=N, inputs=[y, t_held, loss])
        validation = float(loss.numpy()[0])
        print("validation", validation)
        if validation > best or it > 4:
            break
        best = validation
