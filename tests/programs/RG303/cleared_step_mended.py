# expect: right
"""Temperature control by a kernel that reads the gradient, after it was zeroed for the next round."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def warm(u: wp.array(dtype=float), t: wp.array(dtype=float)):
    i = wp.tid()
    t[i] = 0.8 + u[i] - 0.3 * u[i] * u[i]


@wp.kernel
def comfort(t: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = t[i] - 1.3
    wp.atomic_add(loss, 0, d * d)


@wp.kernel
def step(u: wp.array(dtype=float), g: wp.array(dtype=float), rate: float):
    i = wp.tid()
    u[i] = u[i] - rate * g[i]


u = wp.array([0.1, 0.4, 0.9], dtype=float, requires_grad=True)
for it in range(3):
    t = wp.zeros(3, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(warm, dim=3, inputs=[u, t])
        wp.launch(comfort, dim=3, inputs=[t, loss])
    tape.backward(loss)
    print("iter", it, "loss", float(loss.numpy()[0]), "u", u.numpy().tolist(), "grad_u", u.grad.numpy().tolist())
    wp.launch(step, dim=3, inputs=[u, u.grad, 0.2])
    tape.zero()
