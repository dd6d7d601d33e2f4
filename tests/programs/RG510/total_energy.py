# expect: right, remark RG510
"""The loss is never cleared; the program prints what each round adds to it."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def energy(q: wp.array(dtype=wp.float64), total: wp.array(dtype=wp.float64)):
    i = wp.tid()
    bend = q[(i + 1) % q.shape[0]] - wp.sin(q[i])
    wp.atomic_add(total, 0, bend * bend + wp.float64(0.1) * q[i])


class Chain:
    def __init__(self):
        self.q = wp.array([0.3, -0.8, 1.2, 0.5], dtype=wp.float64, requires_grad=True)
        self.total = wp.zeros(1, dtype=wp.float64, requires_grad=True)

    def gradient(self):
        tape = wp.Tape()
        with tape:
            wp.launch(energy, dim=4, inputs=[self.q, self.total])
        tape.backward(self.total)
        return tape


chain = Chain()
before = 0.0
for it in range(4):
    tape = chain.gradient()
    total = chain.total.numpy().item()
    g = chain.q.grad.numpy().copy()
    print("iter", it, "loss", total - before, "q", chain.q.numpy().tolist(), "grad_q", g.tolist())
    before = total
    chain.q.assign(chain.q.numpy() - 0.05 * g)
    tape.zero()
