# expect: right
"""Traffic through a network: flows from a linear solve on the host, with a recorded adjoint of it."""

import numpy as np
import warp as wp

wp.set_device("cpu")

ROUTES = np.array([[2.0, -0.9, 0.1], [-0.2, 1.6, -0.7], [0.3, -0.1, 1.3]])


@wp.kernel
def demand(toll: wp.array(dtype=float), wish: wp.array(dtype=float)):
    i = wp.tid()
    wish[i] = 1.5 * wp.exp(-0.6 * toll[i]) + 0.2


@wp.kernel
def delay(flow: wp.array(dtype=float), toll: wp.array(dtype=float), cost: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(cost, 0, flow[i] * flow[i] * (1.0 + 0.2 * flow[i]) + 0.1 * toll[i] * toll[i])


def assign(tape, wish, flow):
    flow.assign(np.linalg.solve(ROUTES, wish.numpy()).astype(np.float32))

    def backward():
        part = np.linalg.solve(ROUTES.T, flow.grad.numpy()).astype(np.float32)
        wish.grad.assign(wish.grad.numpy() + part)

    tape.record_func(backward, arrays=[wish, flow])


toll = wp.array([0.4, 0.9, 0.6], dtype=float, requires_grad=True)
for it in range(3):
    wish = wp.zeros(3, dtype=float, requires_grad=True)
    flow = wp.zeros(3, dtype=float, requires_grad=True)
    cost = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(demand, dim=3, inputs=[toll, wish])
        assign(tape, wish, flow)
        wp.launch(delay, dim=3, inputs=[flow, toll, cost])
    tape.backward(cost)
    g = toll.grad.numpy().copy()
    print("iter", it, "loss", float(cost.numpy()[0]), "toll", toll.numpy().tolist(), "grad_toll", g.tolist())
    toll.assign(toll.numpy() - 0.1 * g)
    tape.zero()
