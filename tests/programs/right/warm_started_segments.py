# expect: right
"""A flow with checkpoints by hand; the pressure that a segment ends with is used in it, and starts the next one."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N, SEGMENTS, SWEEPS = 4, 3, 2


@wp.kernel
def relax(u: wp.array(dtype=float), p: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 0.25 * (p[(i + 1) % N] + p[(i + 3) % N]) + 0.3 * u[i] * u[i]


@wp.kernel
def push(u: wp.array(dtype=float), p: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = u[i] + 0.2 * wp.sin(p[(i + 1) % N] - p[i]) - 0.1 * u[i] * p[i]


@wp.kernel
def misfit(u: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (u[i] - 0.4) * (u[i] - 0.4))


class Flow:
    def __init__(self):
        self.u, self.p = self.arrays(2), self.arrays(SWEEPS + 1)
        self.start = [[wp.zeros(N, dtype=float) for _ in range(2)] for _ in range(SEGMENTS)]
        self.saved = [wp.zeros(N, dtype=float) for _ in range(2)]
        self.loss = wp.zeros(1, dtype=float, requires_grad=True)

    def arrays(self, count):
        return [wp.zeros(N, dtype=float, requires_grad=True) for _ in range(count)]

    def segment(self):
        for k in range(SWEEPS):
            wp.launch(relax, dim=N, inputs=[self.u[0], self.p[k]], outputs=[self.p[k + 1]])
        wp.launch(push, dim=N, inputs=[self.u[0], self.p[SWEEPS]], outputs=[self.u[1]])

    def forward(self):
        self.p[0].zero_()
        for start in self.start:
            wp.copy(start[0], self.u[0])
            wp.copy(start[1], self.p[0])
            self.segment()
            wp.copy(self.u[0], self.u[1])
            wp.copy(self.p[0], self.p[SWEEPS])

    def backward(self):
        for number in reversed(range(SEGMENTS)):
            wp.copy(self.u[0], self.start[number][0])
            wp.copy(self.p[0], self.start[number][1])
            tape = wp.Tape()
            with tape:
                self.segment()
                if number == SEGMENTS - 1:
                    self.loss.zero_()
                    wp.launch(misfit, dim=N, inputs=[self.u[1], self.loss])
            if number == SEGMENTS - 1:
                tape.backward(self.loss)
            else:
                wp.copy(self.u[1].grad, self.saved[0])
                wp.copy(self.p[SWEEPS].grad, self.saved[1])
                tape.backward()
            if number > 0:
                wp.copy(self.saved[0], self.u[0].grad)
                wp.copy(self.saved[1], self.p[0].grad)
                tape.zero()
        return tape


flow = Flow()
u = np.array([0.9, 0.2, 0.6, 1.1], dtype=np.float32)
for it in range(3):
    flow.u[0].assign(u)
    flow.forward()
    tape = flow.backward()
    g = flow.u[0].grad.numpy().copy()
    print("iter", it, "loss", float(flow.loss.numpy()[0]), "u", u.tolist(), "grad_u", g.tolist())
    tape.zero()
    u = u - np.float32(0.1) * g
