# expect: right
"""A flock; positions and headings are fields of one struct, and a later pass turns the headings."""

import numpy as np
import warp as wp


@wp.struct
class Flock:
    position: wp.array(dtype=wp.vec2)
    heading: wp.array(dtype=wp.vec2)


@wp.func
def speed(h: wp.vec2):
    return wp.sqrt(0.1 + wp.dot(h, h))


@wp.kernel
def fly(f: Flock, thrust: wp.array(dtype=float), out: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    out[i] = f.position[i] + f.heading[i] * (thrust[i] / speed(f.heading[i]))


@wp.kernel
def turn(f: Flock):
    i = wp.tid()
    h = f.heading[i]
    f.heading[i] = wp.vec2(0.5 * h[1], -2.0 * h[0])


@wp.kernel
def spread(p: wp.array(dtype=wp.vec2), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(p[i], p[i]))


def simulate(thrust, headings):
    flock = Flock()
    flock.position = wp.zeros(3, dtype=wp.vec2, requires_grad=True)
    flock.heading = wp.array(headings, dtype=wp.vec2, requires_grad=True)
    there = wp.zeros(3, dtype=wp.vec2, requires_grad=True)
    wp.launch(fly, dim=3, inputs=[flock, thrust], outputs=[there])
    after = Flock()
    after.heading = wp.clone(flock.heading)
    wp.launch(turn, dim=3, inputs=[after])
    after.position = there
    back = wp.zeros(3, dtype=wp.vec2, requires_grad=True)
    wp.launch(fly, dim=3, inputs=[after, thrust], outputs=[back])
    return back


with wp.ScopedDevice("cpu"):
    headings = np.array([[1.0, 0.5], [-0.4, 0.9], [0.3, -1.2]], dtype=np.float32)
    thrust = wp.array([0.5, 0.8, 1.2], dtype=float, requires_grad=True)
    for it in range(3):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(spread, dim=3, inputs=[simulate(thrust, headings), loss])
        tape.backward(loss)
        gradient = thrust.grad.numpy()
        print(
            "iter", it, "loss", loss.numpy().item(), "thrust", thrust.numpy().tolist(), "grad_thrust", gradient.tolist()
        )
        thrust.assign(thrust.numpy() - 0.1 * gradient)
        tape.zero()
