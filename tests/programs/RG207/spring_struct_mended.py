# expect: right
"""A row of masses on springs; stiffness and drag are elements of an array in the material struct."""

import numpy as np
import warp as wp

N, STEPS = 5, 6


@wp.struct
class Material:
    p: wp.array(dtype=float)
    rest: wp.array(dtype=float)


@wp.kernel
def push(
    x: wp.array(dtype=float),
    v: wp.array(dtype=float),
    m: Material,
    x_out: wp.array(dtype=float),
    v_out: wp.array(dtype=float),
):
    i = wp.tid()
    force = -m.p[0] * (x[i] - m.rest[i])
    if i > 0:
        force = force - m.p[0] * (x[i] - x[i - 1] - 1.0)
    force = force - m.p[1] * v[i] - m.p[2] * v[i] * wp.abs(v[i])
    v_out[i] = v[i] + 0.1 * force
    x_out[i] = x[i] + 0.1 * v_out[i]


@wp.kernel
def score(x: wp.array(dtype=float), p: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = x[i] - float(i)
    wp.atomic_add(loss, 0, d * d + 0.01 * p[0] * p[0])


def material(p, rest):
    m = Material()
    m.p = p
    m.rest = rest
    return m


def main():
    rest = wp.array(np.arange(N) * 1.1, dtype=float)
    start = wp.array(np.arange(N) * 0.9 + 0.2, dtype=float)
    p = wp.array([1.5, 0.3, 0.2], dtype=float, requires_grad=True)
    for it in range(3):
        m = material(p, rest)
        xs = [start] + [wp.zeros(N, dtype=float, requires_grad=True) for _ in range(STEPS)]
        vs = [wp.zeros(N, dtype=float, requires_grad=True) for _ in range(STEPS + 1)]
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            for t in range(STEPS):
                wp.launch(push, dim=N, inputs=[xs[t], vs[t], m, xs[t + 1], vs[t + 1]])
            wp.launch(score, dim=N, inputs=[xs[STEPS], p, loss])
        tape.backward(loss)
        g = p.grad.numpy()
        print("iter", it, "loss", float(loss.numpy()[0]), "p", p.numpy().tolist(), "grad_p", g.tolist())
        p.assign(p.numpy() - 0.5 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
