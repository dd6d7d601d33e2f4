# expect: right
"""One tape for the whole training, reset before every recording."""

import warp as wp
import warp.optim

wp.set_device("cpu")


@wp.kernel
def orbit(k: wp.array(dtype=wp.vec3), p: wp.array(dtype=wp.vec3), q: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    q[i] = p[i] + 0.3 * wp.cross(k[i], p[i]) + 0.1 * wp.cross(k[i], wp.cross(k[i], p[i]))


@wp.kernel
def far(q: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.length(q[i] - wp.vec3(0.5, 0.5, 0.0)))


k = wp.array([[0.2, -0.4, 1.0], [0.7, 0.1, -0.3]], dtype=wp.vec3, requires_grad=True)
p = wp.array([[1.0, 0.0, 0.2], [0.1, 1.2, -0.5]], dtype=wp.vec3)
q = wp.zeros(2, dtype=wp.vec3, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
optimizer = warp.optim.Adam([k], lr=0.05)
tape = wp.Tape()
for it in range(3):
    tape.reset()
    loss.zero_()
    with tape:
        wp.launch(orbit, dim=2, inputs=[k, p, q])
        wp.launch(far, dim=2, inputs=[q, loss])
    tape.backward(loss)
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", k.grad.numpy().tolist())
    optimizer.step([k.grad])
    tape.zero()
