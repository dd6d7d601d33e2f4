# expect: right
"""The data term and the penalty are pushed back one after the other, and each seed is cleared."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def misfit(m: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = wp.exp(0.5 * m[i]) - 1.7
    wp.atomic_add(loss, 0, d * d)


@wp.kernel
def roughness(m: wp.array(dtype=float), penalty: wp.array(dtype=float)):
    i = wp.tid()
    d = m[i + 1] - m[i]
    wp.atomic_add(penalty, 0, 0.3 * d * d)


def gradient(m):
    data = wp.zeros(1, dtype=float, requires_grad=True)
    penalty = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(misfit, dim=4, inputs=[m, data])
        wp.launch(roughness, dim=3, inputs=[m, penalty])
    for term in (data, penalty):
        tape.backward(term)
        term.grad.zero_()
    return float(data.numpy()[0] + penalty.numpy()[0]), m.grad.numpy().copy()


m = wp.array([0.4, 1.5, -0.3, 0.8], dtype=float, requires_grad=True)
for it in range(3):
    value, g = gradient(m)
    print("iter", it, "loss", value, "m", m.numpy().tolist(), "grad_m", g.tolist())
    m.assign(m.numpy() - 0.05 * g)
    m.grad.zero_()
