# expect: wrong
"""An orbit of hundreds of small steps in one kernel, as many as the caller asks for."""

import warp as wp


@wp.kernel
def orbit(push: wp.array(dtype=wp.float64), steps: int, place: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    p = wp.vec2d(wp.float64(1.0), wp.float64(0.1) * wp.float64(i))
    v = wp.vec2d(push[0], push[1])
    for _step in range(steps):  # <- RG403
        r = wp.float64(0.2) + wp.dot(p, p)
        v = v - wp.float64(0.01) * p / (r * r)
        p = p + wp.float64(0.01) * v
    place[i] = p


@wp.kernel
def miss(place: wp.array(dtype=wp.vec2d), loss: wp.array(dtype=wp.float64)):
    d = place[wp.tid()] - wp.vec2d(wp.float64(-0.5), wp.float64(0.7))
    wp.atomic_add(loss, 0, wp.dot(d, d))


def main():
    push = wp.array([0.1, 0.8], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        place = wp.zeros(3, dtype=wp.vec2d, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(orbit, dim=3, inputs=[push, 150, place])
            wp.launch(miss, dim=3, inputs=[place, loss])
        tape.backward(loss)
        g = push.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "push", push.numpy().tolist(), "grad_push", g.tolist())
        push.assign(push.numpy() - 0.01 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
