# expect: right
"""The gradient of a beam's shape is projected on the device, in place and by a round trip, before the update."""

import numpy as np
import warp as wp
import warp.optim

wp.set_device("cpu")
COUNT = 6


@wp.kernel
def bend(height: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = height[i + 1] - height[i]
    wp.atomic_add(loss, 0, 1.0 / (0.5 + height[i] * height[i]) + 3.0 * d * d)


@wp.kernel
def mirror(gradient: wp.array(dtype=float), symmetric: wp.array(dtype=float)):
    i = wp.tid()
    symmetric[i] = 0.5 * (gradient[i] + gradient[COUNT - 1 - i])


@wp.kernel
def fix_ends(gradient: wp.array(dtype=float)):
    i = wp.tid()
    gradient[i * (COUNT - 1)] -= gradient[i * (COUNT - 1)]


height = wp.array(np.linspace(0.6, 1.3, COUNT) ** 2, dtype=float, requires_grad=True)
symmetric = wp.zeros(COUNT, dtype=float)
optimizer = warp.optim.SGD([height], lr=0.02)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(bend, dim=COUNT - 1, inputs=[height, loss])
    tape.backward(loss)
    line = ("iter", it, "loss", float(loss.numpy()[0]), "height", height.numpy().tolist())
    print(*line, "grad_height", height.grad.numpy().tolist())
    wp.launch(mirror, dim=COUNT, inputs=[height.grad, symmetric])
    height.grad.assign(symmetric)
    wp.launch(fix_ends, dim=2, inputs=[height.grad])
    optimizer.step([height.grad])
    tape.zero()
