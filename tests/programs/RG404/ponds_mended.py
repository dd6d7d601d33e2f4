# expect: right
"""Depths of a cascade of ponds, computed off the tape by kernels, with a recorded adjoint written by hand."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def spill(gate: wp.array(dtype=float), depth: wp.array(dtype=float)):
    i = wp.tid()
    depth[i] = wp.sqrt(0.5 + gate[i]) * (1.0 + 0.3 * wp.float32(i))


@wp.kernel
def spill_backward(gate: wp.array(dtype=float), share: wp.array(dtype=float), given: wp.array(dtype=float)):
    i = wp.tid()
    given[i] = given[i] + 0.5 * share[i] * (1.0 + 0.3 * wp.float32(i)) / wp.sqrt(0.5 + gate[i])


@wp.kernel
def mismatch(depth: wp.array(dtype=float), gate: wp.array(dtype=float), cost: wp.array(dtype=float)):
    i = wp.tid()
    d = depth[i] - 1.0
    wp.atomic_add(cost, 0, d * d + 0.05 * gate[i] * gate[i] * gate[i])


class Cascade:
    def forward(self, tape, gate, depth):
        wp.launch(spill, dim=4, inputs=[gate], outputs=[depth], record_tape=False)
        tape.record_func(lambda: self.backward(gate, depth), arrays=[gate, depth])

    def backward(self, gate, depth):
        wp.launch(spill_backward, dim=4, inputs=[gate, depth.grad, gate.grad])


gate = wp.array([0.2, 0.8, 0.5, 1.1], dtype=float, requires_grad=True)
cascade = Cascade()
for it in range(3):
    depth = wp.zeros(4, dtype=float, requires_grad=True)
    cost = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        cascade.forward(tape, gate, depth)
        wp.launch(mismatch, dim=4, inputs=[depth, gate, cost])
    tape.backward(cost)
    g = gate.grad.numpy().copy()
    print("iter", it, "loss", float(cost.numpy()[0]), "gate", gate.numpy().tolist(), "grad_gate", g.tolist())
    gate.assign(gate.numpy() - 0.05 * g)
    tape.zero()
