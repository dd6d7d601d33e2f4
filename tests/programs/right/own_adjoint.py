# expect: right
"""A solver outside Warp takes part in the tape with an adjoint of its own; a function has one too."""

import numpy as np
import warp as wp

wp.set_device("cpu")
MATRIX = np.array([[3.0, 0.5, 0.0], [0.5, 2.0, -0.4], [0.0, -0.4, 1.5]])


@wp.func
def soften(x: wp.float64):
    return wp.log(wp.float64(1.0) + wp.exp(x))


@wp.func_grad(soften)
def adjoint_of_soften(x: wp.float64, adjoint_of_result: wp.float64):
    wp.adjoint[x] += adjoint_of_result / (wp.float64(1.0) + wp.exp(-x))


@wp.kernel
def load(q: wp.array(dtype=wp.float64), f: wp.array(dtype=wp.float64)):
    i = wp.tid()
    f[i] = soften(q[i]) - wp.float64(0.5)


@wp.kernel
def squares(u: wp.array(dtype=wp.float64), q: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, u[i] * u[i] + wp.float64(0.1) * q[i] * q[i])


def solve(tape, f, u):
    u.assign(np.linalg.solve(MATRIX, f.numpy()))

    def backward():
        f.grad.assign(f.grad.numpy() + np.linalg.solve(MATRIX.T, u.grad.numpy()))

    tape.record_func(backward, arrays=[f, u])


q = wp.array([0.3, -0.8, 1.1], dtype=wp.float64, requires_grad=True)
for it in range(3):
    f = wp.zeros(3, dtype=wp.float64, requires_grad=True)
    u = wp.zeros(3, dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(load, dim=3, inputs=[q, f])
    solve(tape, f, u)
    with tape:
        wp.launch(squares, dim=3, inputs=[u, q, loss])
    tape.backward(loss)
    g = q.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "q", q.numpy().tolist(), "grad_q", g.tolist())
    q.assign(q.numpy() - 0.1 * g)
    tape.zero()
