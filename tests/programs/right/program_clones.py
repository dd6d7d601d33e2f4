# expect: right
"""Clones, copies and assignments on the tape, each of a source that is read again later."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def curve(a: wp.array(dtype=wp.vec3), s: wp.array(dtype=float), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = wp.cross(a[i], wp.vec3(0.2, s[i], 0.5)) + a[i] * wp.dot(a[i], a[i])


@wp.kernel
def volume(
    a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3), c: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)
):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(wp.cross(a[i], b[i]), c[i]))


s = wp.array([0.4, 0.8], dtype=float, requires_grad=True)
p = wp.array([[0.5, 0.1, -0.3], [0.2, 0.6, 0.4]], dtype=wp.vec3, requires_grad=True)
for it in range(3):
    first, second, kept = (wp.zeros(2, dtype=wp.vec3, requires_grad=True) for _ in range(3))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        twin = wp.clone(p)
        wp.launch(curve, dim=2, inputs=[twin, s, first])
        wp.copy(kept, first)
        wp.launch(curve, dim=2, inputs=[first, s, second])
        wp.launch(volume, dim=2, inputs=[p, second, kept, loss])
    tape.backward(loss)
    gs, gp = s.grad.numpy(), p.grad.numpy()
    print(
        "iter",
        it,
        "loss",
        float(loss.numpy()[0]),
        "s",
        s.numpy().tolist(),
        "grad_s",
        gs.tolist(),
        "p",
        p.numpy().tolist(),
        "grad_p",
        gp.tolist(),
    )
    s.assign(s.numpy() - 0.1 * gs)
    p.assign(p.numpy() - 0.1 * gp)
    tape.zero()
