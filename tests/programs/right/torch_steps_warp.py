# expect: right
"""Warp's arrays, stepped by an optimizer of torch that shares their memory."""

import torch
import warp as wp

wp.set_device("cpu")


@wp.kernel
def bend(a: wp.array(dtype=float), x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    y = a[0] * x[i] + a[1] * wp.sin(2.0 * x[i])
    d = y - x[i] * x[i]
    wp.atomic_add(loss, 0, d * d)


a = wp.array([0.6, -0.3], dtype=float, requires_grad=True)
x = wp.array([-1.0, -0.6, -0.1, 0.3, 0.8, 1.1], dtype=float)
optimizer = torch.optim.Adam([wp.to_torch(a)], lr=0.05)
for it in range(4):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(bend, dim=6, inputs=[a, x, loss])
    tape.backward(loss)
    print("iter", it, "loss", float(loss.numpy()[0]), "a", a.numpy().tolist(), "grad_a", a.grad.numpy().tolist())
    optimizer.step()
    tape.zero()
