# expect: right
"""Fits a pendulum's damping with torch's SGD, over a tape whose gradients lie in torch's tensors."""

import torch
import warp as wp

wp.set_device("cpu")
STEPS = 10


@wp.kernel
def swing(c: wp.array(dtype=float), step: int, angle: wp.array(dtype=float), speed: wp.array(dtype=float)):
    v = speed[step] - 0.1 * (c[0] * speed[step] + c[1] * wp.sin(angle[step]))
    speed[step + 1] = v
    angle[step + 1] = angle[step] + 0.1 * v


@wp.kernel
def score(angle: wp.array(dtype=float), loss: wp.array(dtype=float)):
    d = angle[STEPS] - 0.2
    loss[0] = d * d


c = torch.tensor([0.4, 3.0], requires_grad=True)
optimizer = torch.optim.SGD([c], lr=0.05)
shared = wp.from_torch(c)
for it in range(4):
    angle = wp.full(STEPS + 1, 0.9, dtype=float, requires_grad=True)
    speed = wp.zeros(STEPS + 1, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for step in range(STEPS):
            wp.launch(swing, dim=1, inputs=[shared, step], outputs=[angle, speed])
        wp.launch(score, dim=1, inputs=[angle], outputs=[loss])
    tape.backward(loss)
    print("iter", it, "loss", float(loss.numpy()[0]), "c", c.tolist(), "grad_c", c.grad.tolist())
    optimizer.step()
    tape.zero()
