# expect: wrong
"""Light between two mirrors, until it is too weak to matter or has gone round often enough."""

import numpy as np
import warp as wp


@wp.func
def bounce(strength: wp.float64, mirror: wp.float64, least: wp.float64, most: int):
    left = wp.float64(1.0) * strength
    total = wp.float64(0.0)
    for rounds in range(most):  # <- RG403
        if left < least:
            break
        if rounds == 1:
            continue
        left = left * mirror * (wp.float64(1.0) - wp.float64(0.05) * left)
        total += left * left
    return total * left


@wp.kernel
def cavity(mirror: wp.array(dtype=wp.float64), lamp: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.sqrt(bounce(lamp[i], mirror[i], wp.float64(0.2), 40))


@wp.kernel
def compare(out: wp.array(dtype=wp.float64), seen: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = out[i] - seen[i]
    wp.atomic_add(loss, 0, d * d)


def main():
    mirror = wp.array([0.7, 0.8, 0.55], dtype=wp.float64, requires_grad=True)
    lamp = wp.array([1.0, 1.4, 2.0], dtype=wp.float64)
    seen = wp.array([0.2, 0.5, 0.7], dtype=wp.float64)
    for it in range(3):
        out = wp.zeros(3, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(cavity, dim=3, inputs=[mirror, lamp], outputs=[out])
            wp.launch(compare, dim=3, inputs=[out, seen], outputs=[loss])
        tape.backward(loss)
        g = mirror.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "mirror", mirror.numpy().tolist(), "grad_mirror", g.tolist())
        mirror.assign(np.clip(mirror.numpy() - 0.002 * g, 0.3, 0.95))
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
