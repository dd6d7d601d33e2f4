# expect: right
"""Particles are structs in arrays, one for every step."""

import numpy as np
import warp as wp

wp.set_device("cpu")
STEPS = 5


@wp.struct
class Particle:
    x: wp.vec2
    age: int
    v: wp.vec2


@wp.kernel
def move(spring: wp.array(dtype=float), before: wp.array(dtype=Particle), after: wp.array(dtype=Particle)):
    i = wp.tid()
    p = before[i]
    v = p.v - 0.2 * spring[i] * p.x * (1.0 + wp.dot(p.x, p.x))
    after[i].v = v
    after[i].x = p.x + 0.2 * v
    after[i].age = p.age - 1


@wp.kernel
def energy(particles: wp.array(dtype=Particle), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(particles[i].x, particles[i].x) + 0.5 * wp.dot(particles[i].v, particles[i].v))


start = np.zeros(3, dtype=Particle.numpy_dtype())
start["x"] = [[1.0, 0.2], [-0.5, 0.8], [0.3, -1.1]]
start["v"] = [[0.0, 0.4], [0.6, 0.1], [-0.2, 0.5]]
spring = wp.array([0.8, 1.3, 2.0], dtype=float, requires_grad=True)
states = [wp.zeros(3, dtype=Particle, requires_grad=True) for _ in range(STEPS + 1)]
for it in range(3):
    states[0].assign(start)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for step in range(STEPS):
            before, after = states[step : step + 2]
            wp.launch(move, dim=3, inputs=[spring, before], outputs=[after])
        wp.launch(energy, dim=3, inputs=[after, loss])
    tape.backward(loss)
    g = spring.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "spring", spring.numpy().tolist(), "grad_spring", g.tolist())
    spring.assign(spring.numpy() - 0.05 * g)
    tape.zero()
