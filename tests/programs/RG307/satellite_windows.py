# expect: wrong
"""Orbit control over three windows, each recorded on a tape of its own."""

import warp as wp

wp.set_device("cpu")
WINDOWS, STEPS = 3, 4


@wp.kernel
def coast(
    p: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    u: wp.array(dtype=wp.vec3),
    p2: wp.array(dtype=wp.vec3),
    v2: wp.array(dtype=wp.vec3),
):
    r = wp.length(p[0])
    w = v[0] + 0.1 * (u[0] - p[0] / (r * r * r))
    v2[0] = w
    p2[0] = p[0] + 0.1 * w


@wp.kernel
def arrive(p: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    d = p[0] - wp.vec3(0.0, 1.2, 0.1)
    loss[0] = wp.dot(d, d)


def vector(values=(0.0, 0.0, 0.0)):
    return wp.array([values], dtype=wp.vec3, requires_grad=True)


u = vector((0.05, -0.02, 0.01))
for it in range(3):
    p, v = vector((1.0, 0.1, 0.0)), vector((0.0, 0.9, 0.2))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    for window in range(WINDOWS):
        tape = wp.Tape()
        with tape:
            for _ in range(STEPS):
                p2, v2 = vector(), vector()
                wp.launch(coast, dim=1, inputs=[p, v, u], outputs=[p2, v2])
                p, v = p2, v2
            if window == WINDOWS - 1:
                wp.launch(arrive, dim=1, inputs=[p], outputs=[loss])
    tape.backward(loss)  # <- RG307
    g = u.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "u", u.numpy().tolist(), "grad_u", g.tolist())
    u.assign(u.numpy() - 0.1 * g)
    tape.zero()
