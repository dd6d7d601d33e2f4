# expect: right
"""Adam written in NumPy, over parameters that are rebuilt from NumPy in every iteration."""

import numpy as np
import warp as wp


@wp.kernel
def rosenbrock(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    a = x[i + 1] - x[i] * x[i]
    b = wp.float64(1.0) - x[i]
    wp.atomic_add(loss, 0, wp.float64(10.0) * a * a + b * b)


class Adam:
    def __init__(self, size, rate=0.05):
        self.rate, self.count = rate, 0
        self.first, self.second = np.zeros(size), np.zeros(size)

    def step(self, x, g):
        self.count += 1
        self.first = 0.9 * self.first + 0.1 * g
        self.second = 0.999 * self.second + 0.001 * g * g
        mean = self.first / (1.0 - 0.9**self.count)
        return x - self.rate * mean / (np.sqrt(self.second / (1.0 - 0.999**self.count)) + 1e-8)


def gradient(x):
    array = wp.array(x, dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(rosenbrock, dim=x.size - 1, inputs=[array, loss])
    tape.backward(loss)
    return float(loss.numpy()[0]), array.grad.numpy().copy()


def main():
    x = np.array([-0.8, 0.6, 1.1, 0.4])
    optimizer = Adam(x.size)
    for it in range(4):
        value, g = gradient(x)
        print("iter", it, "loss", value, "x", x.tolist(), "grad_x", g.tolist())
        x = optimizer.step(x, g)


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
