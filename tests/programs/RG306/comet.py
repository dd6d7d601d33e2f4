# expect: wrong
"""A long flight in segments: positions' gradients are handed on at the seams, velocities' are not."""

import warp as wp

wp.set_device("cpu")
SEGMENTS, STEPS = 3, 5
VEC = wp.array(dtype=wp.vec2d)


@wp.kernel
def fly(x: VEC, v: VEC, pull: wp.array(dtype=wp.float64), x_next: VEC, v_next: VEC):
    r = wp.length(x[0])
    w = v[0] - wp.float64(0.1) * pull[0] / (r * r * r) * x[0] - wp.float64(0.02) * pull[1] * v[0]
    v_next[0] = w
    x_next[0] = x[0] + wp.float64(0.1) * w


@wp.kernel
def miss(x: VEC, loss: wp.array(dtype=wp.float64)):
    d = x[0] - wp.vec2d(wp.float64(-0.4), wp.float64(0.9))
    loss[0] = wp.dot(d, d)


def vector(x, y):
    return wp.array([[x, y]], dtype=wp.vec2d, requires_grad=True)


def segment(x, v, pull):
    for _ in range(STEPS):
        x_next, v_next = vector(0.0, 0.0), vector(0.0, 0.0)
        wp.launch(fly, dim=1, inputs=[x, v, pull, x_next, v_next])
        x, v = x_next, v_next
    return x, v


def evaluate(pull):
    starts = [(vector(1.0, 0.1), vector(-0.1, 0.9))]
    for _ in range(SEGMENTS):
        x, v = segment(*starts[-1], pull)
        starts.append((wp.clone(x), wp.clone(v)))
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    x_next, _ = starts.pop()
    last = wp.Tape()
    with last:
        wp.launch(miss, dim=1, inputs=[x_next], outputs=[loss])
    last.backward(loss)
    while starts:
        start = starts.pop()
        tape = wp.Tape()
        with tape:
            x, v = segment(*start, pull)
        tape.backward(grads={x: x_next.grad})  # <- RG306
        x_next, _ = start
    return loss.numpy().item(), pull.grad.numpy().copy()


pull = wp.array([0.9, 0.3], dtype=wp.float64, requires_grad=True)
for it in range(3):
    value, g = evaluate(pull)
    print("iter", it, "loss", value, "pull", pull.numpy().tolist(), "grad_pull", g.tolist())
    pull.assign(pull.numpy() - 0.05 * g)
    pull.grad.zero_()
