# ruff: noqa: D101, D103
"""Finds the initial velocities that bring a cloud of particles, tied by springs, to where it is wanted."""

import numpy as np
import warp as wp

COUNT, STEPS, ROUNDS = 40_000, 60, 4
NEIGHBOURS = wp.constant(8)


@wp.struct
class Cloud:
    position: wp.array(dtype=wp.vec3)
    velocity: wp.array(dtype=wp.vec3)


@wp.kernel
def pull(cloud: Cloud, neighbour: wp.array2d(dtype=int), force: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    total = wp.vec3()
    for n in range(NEIGHBOURS):
        apart = cloud.position[neighbour[i, n]] - cloud.position[i]
        length = wp.length(apart)
        total += apart * (length - 0.1) / (length + 0.01)
    force[i] = total


@wp.kernel
def move(now: Cloud, force: wp.array(dtype=wp.vec3), following: Cloud, dt: float):
    i = wp.tid()
    velocity = (now.velocity[i] + dt * force[i]) * 0.999
    following.velocity[i] = velocity
    following.position[i] = now.position[i] + dt * velocity


@wp.kernel
def distance(position: wp.array(dtype=wp.vec3), wanted: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.length_sq(position[i] - wanted[i]))


def vectors(values=None, gradient=True):
    if values is None:
        return wp.zeros(COUNT, dtype=wp.vec3, requires_grad=gradient)
    return wp.array(values, dtype=wp.vec3, requires_grad=gradient)


rng = np.random.default_rng(7)
places = rng.uniform(0.0, 1.0, (COUNT, 3)).astype(np.float32)
velocity = vectors(np.zeros((COUNT, 3), dtype=np.float32))
wanted = vectors(places + 0.2, gradient=False)
neighbour = wp.array(rng.integers(0, COUNT, (COUNT, 8)), dtype=int)
forces = [vectors() for _ in range(STEPS)]
clouds = [Cloud() for _ in range(STEPS + 1)]
for number, cloud in enumerate(clouds):
    cloud.position = vectors(places) if number == 0 else vectors()
    cloud.velocity = velocity if number == 0 else vectors()
for iteration in range(ROUNDS):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for step in range(STEPS):
            wp.launch(pull, dim=COUNT, inputs=[clouds[step], neighbour, forces[step]])
            wp.launch(move, dim=COUNT, inputs=[clouds[step], forces[step], clouds[step + 1], 0.01])
        wp.launch(distance, dim=COUNT, inputs=[clouds[-1].position, wanted, loss])
    tape.backward(loss)
    print("iteration", iteration, "loss", float(loss.numpy()[0]))
    velocity.assign(velocity.numpy() - 0.1 * velocity.grad.numpy())
    tape.zero()
