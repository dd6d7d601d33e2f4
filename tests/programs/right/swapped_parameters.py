# expect: right
"""The optimizer writes new parameters into a second array, and the two swap roles."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def bowl(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i] * x[i] * x[i] - x[i]


@wp.kernel
def total(y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, y[wp.tid()])


@wp.kernel(enable_backward=False)
def step(x: wp.array(dtype=float), g: wp.array(dtype=float), rate: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] - rate * g[i]


x = wp.array([0.2, 0.8, 1.1], dtype=float, requires_grad=True)
other = wp.zeros(3, dtype=float, requires_grad=True)
for it in range(4):
    y = wp.zeros(3, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(bowl, dim=3, inputs=[x, y])
        wp.launch(total, dim=3, inputs=[y, loss])
    tape.backward(loss)
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", x.grad.numpy().tolist())
    wp.launch(step, dim=3, inputs=[x, x.grad, 0.05, other])
    tape.zero()
    x, other = other, x
