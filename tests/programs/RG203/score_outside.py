# expect: wrong
"""A launcher; the score is computed after the recording has been closed."""

import warp as wp

wp.set_device("cpu")
STEPS = 10


@wp.kernel
def fly(v: wp.array(dtype=wp.vec2), landing: wp.array(dtype=wp.vec2)):
    p = wp.vec2(0.0, 0.0)
    u = v[0]
    for _ in range(STEPS):
        u = u + 0.1 * (wp.vec2(0.0, -1.0) - 0.2 * wp.length(u) * u)
        p = p + 0.1 * u
    landing[0] = p


@wp.kernel
def miss(landing: wp.array(dtype=wp.vec2), loss: wp.array(dtype=float)):
    d = landing[0] - wp.vec2(1.0, 0.0)
    loss[0] = wp.dot(d, d)


v = wp.array([[0.8, 0.6]], dtype=wp.vec2, requires_grad=True)
for it in range(3):
    landing = wp.zeros(1, dtype=wp.vec2, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(fly, dim=1, inputs=[v, landing])
    wp.launch(miss, dim=1, inputs=[landing, loss])  # <- RG203
    tape.backward(loss)
    g = v.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "v", v.numpy().tolist(), "grad_v", g.tolist())
    v.assign(v.numpy() - 0.5 * g)
    tape.zero()
