# expect: wrong
"""An orbit whose solver keeps a second array over the memory of the first."""

import warp as wp

wp.set_device("cpu")
wp.config.quiet = True


@wp.kernel
def accelerate(p: wp.array(dtype=wp.vec3), mass: wp.array(dtype=float), a: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    r = wp.length(p[i])
    a[i] = p[i] * (-mass[i] / (r * r * r))


@wp.kernel
def move(p: wp.array(dtype=wp.vec3), a: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = p[i] + 0.05 * a[i]


@wp.kernel
def recentre(p: wp.array(dtype=wp.vec3), shift: wp.vec3):
    i = wp.tid()
    p[i] = p[i] - shift


@wp.kernel
def radius(p: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(p[i], p[i]))


START = [[1.0, 0.2, 0.0], [-0.3, 1.1, 0.4]]
mass = wp.array([1.0, 1.6], dtype=float, requires_grad=True)
for it in range(3):
    p = wp.array(START, dtype=wp.vec3, requires_grad=True)
    frame = wp.array(ptr=p.ptr, shape=2, dtype=wp.vec3)
    a1, a2 = (wp.zeros(2, dtype=wp.vec3, requires_grad=True) for _ in range(2))
    q1, q2 = (wp.zeros(2, dtype=wp.vec3, requires_grad=True) for _ in range(2))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(accelerate, dim=2, inputs=[p, mass], outputs=[a1])
        wp.launch(move, dim=2, inputs=[p, a1], outputs=[q1])
        wp.launch(accelerate, dim=2, inputs=[q1, mass], outputs=[a2])
        wp.launch(move, dim=2, inputs=[q1, a2], outputs=[q2])
        wp.launch(recentre, dim=2, inputs=[frame, wp.vec3(0.4, 0.1, 0.3)])  # <- RG101
        wp.launch(radius, dim=2, inputs=[q2], outputs=[loss])
    tape.backward(loss=loss)
    g = mass.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "mass", mass.numpy().tolist(), "grad_mass", g.tolist())
    mass = wp.array(mass.numpy() - 0.1 * g, dtype=float, requires_grad=True)
