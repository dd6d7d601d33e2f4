# expect: wrong
"""The loss is noted in a history and reset for the next iteration, by a kernel on the tape."""

import numpy as np
import warp as wp

wp.set_device("cpu")
ITERATIONS = 4


@wp.kernel
def blur(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    y[i] = 0.5 * x[i] + 0.25 * (x[(i + 1) % n] + x[(i + n - 1) % n]) + 0.1 * x[i] * x[i]


@wp.kernel
def misfit(y: wp.array(dtype=float), seen: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - seen[i]
    wp.atomic_add(loss, 0, d * d)


@wp.kernel
def note(loss: wp.array(dtype=float), history: wp.array(dtype=float), it: int):
    history[it] = loss[0]
    loss[0] = 0.0


x = wp.array([0.2, 0.9, -0.3, 0.6, 1.1], dtype=float, requires_grad=True)
seen = wp.array(np.linspace(0.1, 0.9, 5), dtype=float)
loss = wp.zeros(1, dtype=float, requires_grad=True)
history = wp.zeros(ITERATIONS, dtype=float, requires_grad=True)
for it in range(ITERATIONS):
    y = wp.zeros(5, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(blur, dim=5, inputs=[x], outputs=[y])
        wp.launch(misfit, dim=5, inputs=[y, seen, loss])
        wp.launch(note, dim=1, inputs=[loss, history, it])  # <- RG308
    tape.backward(loss)
    g = x.grad.numpy().copy()
    print("iter", it, "loss", float(history.numpy()[it]), "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.2 * g)
    tape.zero()
