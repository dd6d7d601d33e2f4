# expect: right
"""A damped oscillator; the optimizer steps before the backward pass of its iteration."""

import warp as wp
import warp.optim

wp.set_device("cpu")
STEPS = 6


@wp.kernel
def oscillate(k: wp.array(dtype=float), loss: wp.array(dtype=float)):
    x = float(1.0)
    v = float(0.0)
    for _ in range(STEPS):
        v = v - 0.3 * (k[0] * x + k[1] * v)
        x = x + 0.3 * v
    loss[0] = x * x + 0.5 * v * v


k = wp.array([1.5, 0.2], dtype=float, requires_grad=True)
optimizer = warp.optim.SGD([k], lr=0.4)
for it in range(5):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(oscillate, dim=1, inputs=[k, loss])
    tape.backward(loss)
    at = k.numpy().tolist()
    used = k.grad.numpy().tolist()
    optimizer.step([k.grad])
    print("iter", it, "loss", float(loss.numpy()[0]), "k", at, "grad_k", used)
    k.grad.zero_()
