# expect: wrong
"""Segments are run again from checkpoints, one of them by a command made ready."""

import warp as wp

wp.set_device("cpu")
N, SEGMENTS = 3, 3


@wp.kernel
def swing(
    x: wp.array(dtype=float),
    v: wp.array(dtype=float),
    k: wp.array(dtype=float),
    x_next: wp.array(dtype=float),
    v_next: wp.array(dtype=float),
):
    i = wp.tid()
    speed = v[i] - 0.3 * k[i] * wp.sin(x[i])
    v_next[i] = speed
    x_next[i] = x[i] + 0.4 * speed * wp.cos(0.5 * k[i])


@wp.kernel
def rest(x: wp.array(dtype=float), v: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (x[i] - 0.2) * (x[i] - 0.2) + 0.5 * v[i] * v[i])


def pair():
    return [wp.zeros(N, dtype=float, requires_grad=True) for _ in range(2)]


k = wp.array([0.7, 1.2, 0.9], dtype=float, requires_grad=True)
for it in range(3):
    kept = [[wp.array(a, dtype=float, requires_grad=True) for a in ([0.6, -0.9, 0.4], [0.1, 0.3, -0.5])]]
    for _ in range(SEGMENTS):
        following = pair()
        wp.launch(swing, dim=N, inputs=[*kept[-1], k, *following])
        kept.append(following)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    end = [wp.clone(a, requires_grad=True) for a in kept[-1]]
    tape = wp.Tape()
    with tape:
        wp.launch(rest, dim=N, inputs=[*end, loss])
    tape.backward(loss)
    for s in reversed(range(SEGMENTS)):
        start = [wp.clone(a, requires_grad=True) for a in kept[s]]
        again = pair()
        tape = wp.Tape()
        with tape:
            if s == 1:
                ready = wp.launch(swing, dim=N, inputs=[*start, k, *again], record_cmd=True)
                ready.launch()  # <- RG205
            else:
                wp.launch(swing, dim=N, inputs=[*start, k, *again])
        seeds = {again[0]: end[0].grad, again[1]: end[1].grad}
        tape.backward(grads=seeds)
        end = start
    g = k.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.1 * g)
    k.grad.zero_()
