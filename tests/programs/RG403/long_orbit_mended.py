# expect: right
"""An orbit of many small steps, each launch one of them, every state in an array of its own."""

import warp as wp


@wp.kernel
def begin(push: wp.array(dtype=wp.float64), p: wp.array(dtype=wp.vec2d), v: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    p[i] = wp.vec2d(wp.float64(1.0), wp.float64(0.1) * wp.float64(i))
    v[i] = wp.vec2d(push[0], push[1])


@wp.kernel
def step(
    p: wp.array(dtype=wp.vec2d), v: wp.array(dtype=wp.vec2d), q: wp.array(dtype=wp.vec2d), w: wp.array(dtype=wp.vec2d)
):
    i = wp.tid()
    r = wp.float64(0.2) + wp.dot(p[i], p[i])
    speed = v[i] - wp.float64(0.01) * p[i] / (r * r)
    w[i] = speed
    q[i] = p[i] + wp.float64(0.01) * speed


@wp.kernel
def miss(place: wp.array(dtype=wp.vec2d), loss: wp.array(dtype=wp.float64)):
    d = place[wp.tid()] - wp.vec2d(wp.float64(-0.5), wp.float64(0.7))
    wp.atomic_add(loss, 0, wp.dot(d, d))


def main():
    push = wp.array([0.1, 0.8], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        p, v = ([wp.zeros(3, dtype=wp.vec2d, requires_grad=True) for _ in range(151)] for _ in range(2))
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(begin, dim=3, inputs=[push, p[0], v[0]])
            for k in range(150):
                wp.launch(step, dim=3, inputs=[p[k], v[k], p[k + 1], v[k + 1]])
            wp.launch(miss, dim=3, inputs=[p[150], loss])
        tape.backward(loss)
        g = push.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "push", push.numpy().tolist(), "grad_push", g.tolist())
        push.assign(push.numpy() - 0.01 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
