# expect: wrong
"""Tapes of a forward pass kept and run backward in turn; the angle's gradient is handed on, the spin's is dropped."""

import warp as wp

wp.set_device("cpu")
WINDOWS, STEPS = 4, 3


@wp.kernel
def swing(
    q: wp.array(dtype=float),
    p: wp.array(dtype=float),
    c: wp.array(dtype=float),
    q_next: wp.array(dtype=float),
    p_next: wp.array(dtype=float),
):
    i = wp.tid()
    spin = p[i] - 0.15 * c[0] * wp.sin(q[i]) - 0.05 * c[1] * p[i]
    p_next[i] = spin
    q_next[i] = q[i] + 0.15 * spin


@wp.kernel
def rest(q: wp.array(dtype=float), p: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, q[i] * q[i] + 0.5 * p[i] * p[i])


def pair(q=None, p=None):
    if q is None:
        return [wp.zeros(2, dtype=float, requires_grad=True) for _ in range(2)]
    return [wp.array(q, dtype=float, requires_grad=True), wp.array(p, dtype=float, requires_grad=True)]


c = wp.array([1.2, 0.5], dtype=float, requires_grad=True)
for it in range(3):
    windows = []
    state = pair([0.6, -0.9], [0.1, 0.3])
    for k in range(WINDOWS):
        start = [wp.clone(a, requires_grad=True) for a in state]
        tape = wp.Tape()
        with tape:
            state = start
            for _ in range(STEPS):
                following = pair()
                wp.launch(swing, dim=2, inputs=[*state, c, *following])
                state = following
            if k == WINDOWS - 1:
                loss = wp.zeros(1, dtype=float, requires_grad=True)
                wp.launch(rest, dim=2, inputs=[*state, loss])
        windows.append((tape, start, state))
    windows[-1][0].backward(loss)
    for (tape, _, end), (_, after, _) in zip(windows[-2::-1], windows[:0:-1], strict=True):
        seeds = {end[0]: wp.clone(after[0].grad)}
        tape.backward(grads=seeds)  # <- RG306
    g = c.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "c", c.numpy().tolist(), "grad_c", g.tolist())
    c.assign(c.numpy() - 0.1 * g)
    c.grad.zero_()
