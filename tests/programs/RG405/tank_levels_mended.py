# expect: right
"""Levels of coupled tanks from a linear solve on the host, with its adjoint; the inflow also costs energy."""

import numpy as np
import warp as wp

wp.set_device("cpu")

COUPLING = np.array([[2.0, -0.5, 0.0], [-0.5, 1.5, -0.4], [0.0, -0.4, 1.2]])


@wp.kernel
def pump(inflow: wp.array(dtype=float), cost: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(cost, 0, 0.3 * inflow[i] * inflow[i] * inflow[i])


@wp.kernel
def overflow(level: wp.array(dtype=float), cost: wp.array(dtype=float)):
    i = wp.tid()
    d = level[i] - 0.4
    wp.atomic_add(cost, 0, d * d)


class Solver:
    def __init__(self, matrix):
        self.matrix = matrix

    def __call__(self, tape, inflow, level):
        level.assign(np.linalg.solve(self.matrix, inflow.numpy()).astype(np.float32))
        tape.record_func(lambda: self.backward(inflow, level), arrays=[inflow, level])

    def backward(self, inflow, level):
        part = np.linalg.solve(self.matrix.T, level.grad.numpy())
        total = inflow.grad.numpy() + part
        wp.copy(inflow.grad, wp.array(total.astype(np.float32), dtype=float))


inflow = wp.array([0.6, 0.9, 0.4], dtype=float, requires_grad=True)
solver = Solver(COUPLING)
for it in range(3):
    level = wp.zeros(3, dtype=float, requires_grad=True)
    cost = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        solver(tape, inflow, level)
        wp.launch(overflow, dim=3, inputs=[level, cost])
        wp.launch(pump, dim=3, inputs=[inflow, cost])
    tape.backward(cost)
    g = inflow.grad.numpy().copy()
    print("iter", it, "loss", float(cost.numpy()[0]), "inflow", inflow.numpy().tolist(), "grad_inflow", g.tolist())
    inflow.assign(inflow.numpy() - 0.1 * g)
    tape.zero()
