# expect: wrong
"""A model object: the sum of its parts is copied into the loss by a method that records nothing."""

import numpy as np
import warp as wp


@wp.kernel
def potential(x: wp.array(dtype=wp.float64), a: wp.array(dtype=wp.float64), total: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(total, 0, a[0] * x[i] * x[i] + wp.cos(a[1] * x[i]))


class Model:
    def __init__(self):
        self.a = wp.array([0.4, 1.3], dtype=wp.float64, requires_grad=True)
        self.x = wp.array(np.linspace(-1.0, 1.5, 7), dtype=wp.float64)
        self.loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)

    def record(self):
        self.total = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        self.tape = wp.Tape()
        with self.tape:
            wp.launch(potential, dim=7, inputs=[self.x, self.a, self.total])

    def report(self):
        wp.copy(self.loss, self.total)  # <- RG203

    def differentiate(self):
        self.record()
        self.report()
        self.tape.backward(self.loss)
        return self.loss.numpy()[0], self.a.grad.numpy().copy()


def main():
    model = Model()
    for it in range(3):
        value, g = model.differentiate()
        print("iter", it, "loss", value, "a", model.a.numpy().tolist(), "grad_a", g.tolist())
        model.a.assign(model.a.numpy() - 0.05 * g)
        model.tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
