# expect: right
"""A long horizon of a struct's states, of which a few are kept and the others computed again in the backward pass."""

import warp as wp

from retrograde.checkpoint import Uniform, advance

STEPS = 24


@wp.struct
class Orbit:
    x: wp.array(dtype=wp.float64)
    v: wp.array(dtype=wp.float64)


@wp.kernel
def kick_and_drift(before: Orbit, k: wp.array(dtype=wp.float64), factor: wp.float64, after: Orbit):
    i = wp.tid()
    pull = -k[i] * before.x[i] * factor
    after.v[i] = before.v[i] + wp.float64(0.05) * pull
    after.x[i] = before.x[i] + wp.float64(0.05) * (before.v[i] + wp.float64(0.05) * pull)


@wp.kernel
def distance(orbit: Orbit, loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = orbit.x[i] - wp.float64(0.3)
    wp.atomic_add(loss, 0, d * d)


def numbers(values):
    return wp.array(values, dtype=wp.float64, requires_grad=True)


def main():
    k = numbers((0.8, 1.5))
    for it in range(3):
        start = Orbit()
        start.x, start.v = numbers((1.0, 0.4)), numbers((0.0, 0.9))
        loss = numbers((0.0,))
        tape = wp.Tape()
        with tape:

            def step(n, before, after):
                wp.launch(kick_and_drift, dim=2, inputs=[before, k, 1.0 + 0.1 * (n % 3), after])

            end = advance(step, start, STEPS, schedule=Uniform(5), parameters=[k])
            wp.launch(distance, dim=2, inputs=[end.state, loss])
        tape.backward(loss)
        print("iter", it, "loss", loss.numpy().item(), "k", k.numpy().tolist(), "grad_k", k.grad.numpy().tolist())
        k.assign(k.numpy() - 0.3 * k.grad.numpy())
        tape.zero()


main()
