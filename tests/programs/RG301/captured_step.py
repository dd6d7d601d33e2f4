# expect: wrong
"""A whole gradient step of a lens is one captured graph, which does not clear the gradient."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def focus(curvature: wp.array(dtype=float), height: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    x = height[i] * (1.0 - wp.sin(curvature[0]) * 1.5) + curvature[1] * height[i] * height[i] * height[i]
    wp.atomic_add(loss, 0, x * x)


@wp.kernel
def descend(x: wp.array(dtype=float), g: wp.array(dtype=float), rate: float):
    i = wp.tid()
    x[i] = x[i] - rate * g[i]


curvature = wp.array([0.3, 0.1], dtype=float, requires_grad=True)
height = wp.array([-0.9, -0.4, 0.2, 0.7], dtype=float)
loss = wp.zeros(1, dtype=float, requires_grad=True)
used, at = wp.zeros(2, dtype=float), wp.zeros(2, dtype=float)
wp.load_module(device="cpu")
with wp.ScopedCapture() as capture:
    tape = wp.Tape()
    loss.zero_()
    with tape:
        wp.launch(focus, dim=4, inputs=[curvature, height, loss])
    tape.backward(loss)  # <- RG301
    wp.copy(at, curvature)
    wp.copy(used, curvature.grad)
    wp.launch(descend, dim=2, inputs=[curvature, curvature.grad, 0.05])
for it in range(4):
    wp.capture_launch(capture.graph)
    value, x, g = float(loss.numpy()[0]), at.numpy().tolist(), used.numpy().tolist()
    print("iter", it, "loss", value, "curvature", x, "grad_curvature", g)
