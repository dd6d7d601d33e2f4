# expect: right
"""A working copy on the tape, whose source is read again after it; wrong in Warp before 1.17."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def soften(y: wp.array(dtype=wp.float64), z: wp.array(dtype=wp.float64)):
    i = wp.tid()
    z[i] = wp.tanh(y[i]) + wp.float64(0.2) * y[(i + 1) % 3]


@wp.kernel
def deviate(x: wp.array(dtype=wp.float64), z: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = x[i] - z[i]
    wp.atomic_add(loss, 0, d * d + wp.float64(0.1) * x[i] * z[i])


x = wp.array([0.5, -0.8, 1.4], dtype=wp.float64, requires_grad=True)
for it in range(3):
    z = wp.zeros(3, dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        y = wp.clone(x)
        wp.launch(soften, dim=3, inputs=[y], outputs=[z])
        wp.launch(deviate, dim=3, inputs=[x, z, loss])
    tape.backward(loss)
    g = x.grad.numpy().copy()
    print("iter", it, "loss", loss.numpy().item(), "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.2 * g)
    tape.zero()
