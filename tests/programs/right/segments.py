# expect: right
"""A long horizon in segments: states are kept at the seams, and each segment is recorded again for its adjoint."""

import warp as wp

SEGMENTS, STEPS = 3, 4


@wp.kernel
def advance(x: wp.array(dtype=wp.float64), u: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = x[i] + wp.float64(0.1) * (u[i] - x[i] * x[i] * x[i])


@wp.kernel
def end(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = x[i] - wp.float64(0.8)
    wp.atomic_add(loss, 0, d * d)


def state(values=(0.0, 0.0)):
    return wp.array(values, dtype=wp.float64, requires_grad=True)


def segment(start, u):
    x = start
    for _ in range(STEPS):
        following = state()
        wp.launch(advance, dim=2, inputs=[x, u, following])
        x = following
    return x


def gradient(u):
    seams = [state((0.2, 1.4))]
    for _ in range(SEGMENTS):
        seams.append(wp.clone(segment(seams[-1], u)))
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    last = wp.Tape()
    with last:
        wp.launch(end, dim=2, inputs=[seams[-1], loss])
    last.backward(loss)
    for k in reversed(range(SEGMENTS)):
        tape = wp.Tape()
        with tape:
            reached = segment(seams[k], u)
        tape.backward(grads={reached: seams[k + 1].grad})
    return loss.numpy().item(), u.grad.numpy().copy()


def main():
    u = state((0.5, 0.3))
    for it in range(3):
        value, g = gradient(u)
        print("iter", it, "loss", value, "u", u.numpy().tolist(), "grad_u", g.tolist())
        u.assign(u.numpy() - 0.2 * g)
        u.grad.zero_()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
