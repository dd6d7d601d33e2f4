# expect: right
"""Particles in a struct are put back to their start for the next epoch, a line too early."""

import warp as wp

wp.set_device("cpu")


@wp.struct
class Particles:
    place: wp.array(dtype=wp.vec3)
    charge: wp.array(dtype=float)


@wp.kernel
def attract(p: Particles, strength: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    r = wp.length(p.place[i])
    wp.atomic_add(loss, 0, wp.exp(-strength[0] * r) * p.charge[i] * p.charge[i])


@wp.kernel
def reset(p: Particles):
    i = wp.tid()
    p.charge[i] = 0.2 * float(i)
    p.place[i] = wp.vec3(0.1, 0.1, 0.1)


strength = wp.array([0.8], dtype=float, requires_grad=True)
for it in range(3):
    p = Particles()
    p.place = wp.array([[1.0, 0.0, 0.5], [0.2, 0.7, 0.1], [0.9, 0.9, 0.0]], dtype=wp.vec3, requires_grad=True)
    p.charge = wp.array([1.0, -2.0, 1.5], dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(attract, dim=3, inputs=[p, strength, loss])
    tape.backward(loss)
    wp.launch(reset, dim=3, inputs=[p])
    g = strength.grad.numpy()
    print(
        "iter", it, "loss", float(loss.numpy()[0]), "strength", strength.numpy().tolist(), "grad_strength", g.tolist()
    )
    strength.assign(strength.numpy() - 0.1 * g)
    strength.grad.zero_()
