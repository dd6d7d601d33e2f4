# ruff: noqa: D103
"""A million particles in a swirl for fifty steps, each in arrays of its own, or all in the same ones.

python particles.py kept|overwritten
"""

import resource
import sys

import numpy as np
import warp as wp

COUNT, STEPS = 1_000_000, 50


@wp.kernel
def drift(
    position: wp.array(dtype=wp.vec3),
    velocity: wp.array(dtype=wp.vec3),
    next_position: wp.array(dtype=wp.vec3),
    next_velocity: wp.array(dtype=wp.vec3),
    strength: wp.array(dtype=float),
):
    i = wp.tid()
    p = position[i]
    pull = wp.vec3(wp.sin(p[1]), wp.sin(p[2]), wp.sin(p[0]))
    v = velocity[i] * 0.99 + 0.01 * strength[0] * (pull - p)
    next_velocity[i] = v
    next_position[i] = p + 0.01 * v


@wp.kernel
def spread(position: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.length_sq(position[i]))


overwritten = sys.argv[1] == "overwritten"
start = np.random.default_rng(0).uniform(-1.0, 1.0, (COUNT, 3)).astype(np.float32)
strength = wp.array([1.0], dtype=float, requires_grad=True)
states = [
    [wp.array(start, dtype=wp.vec3, requires_grad=True), wp.zeros(COUNT, wp.vec3, requires_grad=True)]
    for _ in range(1 if overwritten else STEPS + 1)
]
loss = wp.zeros(1, dtype=float, requires_grad=True)
tape = wp.Tape()
with tape:
    for step in range(STEPS):
        now, following = states[step % len(states)], states[(step + 1) % len(states)]
        wp.launch(drift, dim=COUNT, inputs=[*now, *following, strength])
    wp.launch(spread, dim=COUNT, inputs=[states[-1][0], loss])
tape.backward(loss)
print("loss", float(loss.numpy()[0]), "slope", float(strength.grad.numpy()[0]))
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)
