# expect: right
"""Forward and backward are captured once as a graph, and launched in every iteration."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def spring(k: wp.array(dtype=float), x: wp.array(dtype=float), f: wp.array(dtype=float)):
    i = wp.tid()
    f[i] = k[i] * x[i] + k[i] * k[i] * x[i] * x[i]


@wp.kernel
def squares(f: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = f[i] - 1.0
    wp.atomic_add(loss, 0, d * d)


k = wp.array([0.5, 0.9, 1.2], dtype=float, requires_grad=True)
x = wp.array([0.8, -0.5, 0.4], dtype=float)
f = wp.zeros(3, dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
wp.load_module(device="cpu")
with wp.ScopedCapture(device="cpu") as capture:
    loss.zero_()
    tape = wp.Tape()
    with tape:
        wp.launch(spring, dim=3, inputs=[k, x, f])
        wp.launch(squares, dim=3, inputs=[f, loss])
    tape.backward(loss)
for it in range(3):
    wp.capture_launch(capture.graph)
    g = k.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.05 * g)
    tape.zero()
