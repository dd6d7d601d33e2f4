# expect: right
"""Noise is drawn inside the kernel on the path, with a seed that each iteration knows."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def sample(m: wp.array(dtype=float), seed: int, noise: wp.array(dtype=float), x: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    e = wp.randn(state)
    noise[i] = e
    x[i] = m[0] + wp.exp(m[1]) * e


@wp.kernel
def score(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, 0.125 * (wp.cos(x[i]) + 0.2 * x[i] * x[i]))


m = wp.array([0.5, -0.7], dtype=float, requires_grad=True)
for it in range(3):
    noise = wp.zeros(8, dtype=float)
    x = wp.zeros(8, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(sample, dim=8, inputs=[m, 100 + it, noise, x])
        wp.launch(score, dim=8, inputs=[x, loss])
    tape.backward(loss)
    g = m.grad.numpy()
    print(
        "iter",
        it,
        "loss",
        float(loss.numpy()[0]),
        "m",
        m.numpy().tolist(),
        "grad_m",
        g.tolist(),
        "noise",
        noise.numpy().tolist(),
    )
    m.assign(m.numpy() - 0.3 * g)
    tape.zero()
