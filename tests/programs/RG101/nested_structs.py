# expect: wrong
"""A planet's orbit: its state is a struct in a struct, and the two states take turns."""

import numpy as np
import warp as wp

wp.set_device("cpu")
STEPS = 6


@wp.struct
class Motion:
    x: wp.array(dtype=wp.vec2)
    v: wp.array(dtype=wp.vec2)


@wp.struct
class Planets:
    step: float
    mass: wp.array(dtype=float)
    motion: Motion


@wp.func
def pull(p: Planets, i: int):
    x = p.motion.x[i]
    return x * (-p.mass[i] / wp.pow(0.2 + wp.dot(x, x), 1.5))


@wp.kernel
def orbit(before: Planets, after: Planets):
    i = wp.tid()
    v = before.motion.v[i] + before.step * pull(before, i)
    after.motion.v[i] = v
    after.motion.x[i] = before.motion.x[i] + before.step * v


@wp.kernel
def distance(p: Planets, loss: wp.array(dtype=float)):
    i = wp.tid()
    d = p.motion.x[i] - wp.vec2(0.5, 0.5)
    wp.atomic_add(loss, 0, wp.dot(d, d))


def make_planets(mass):
    planets = Planets()
    planets.step, planets.mass = 0.3, mass
    planets.motion.x = wp.zeros(2, dtype=wp.vec2, requires_grad=True)
    planets.motion.v = wp.zeros(2, dtype=wp.vec2, requires_grad=True)
    return planets


mass = wp.array([0.8, 1.1], dtype=float, requires_grad=True)
planets = [make_planets(mass) for _ in range(2)]
for it in range(3):
    planets[0].motion.x.assign(np.array([[1.0, 0.0], [0.2, -0.9]], dtype=np.float32))
    planets[0].motion.v.assign(np.array([[0.0, 0.8], [0.9, 0.1]], dtype=np.float32))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for step in range(STEPS):
            wp.launch(orbit, dim=2, inputs=[planets[step % 2], planets[(step + 1) % 2]])  # <- RG101
        wp.launch(distance, dim=2, inputs=[planets[STEPS % 2], loss])
    tape.backward(loss)
    g = mass.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "mass", mass.numpy().tolist(), "grad_mass", g.tolist())
    mass.assign(mass.numpy() - 0.02 * g)
    tape.zero()
