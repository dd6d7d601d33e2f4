# expect: right
"""A matrix of parameters in a two-dimensional launch, stepped with momentum and decay by a class."""

import numpy as np
import warp as wp

ROWS, COLS = 3, 4


@wp.kernel
def product(a: wp.array2d(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(y, i, a[i, j] * wp.sin(x[j]) * a[i, j])


@wp.kernel
def squares(y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - 1.0
    wp.atomic_add(loss, 0, d * d)


class Momentum:
    def __init__(self, parameter, rate, decay):
        self.parameter, self.rate, self.decay = parameter, rate, decay
        self.velocity = np.zeros(parameter.shape, dtype=np.float32)

    def step(self):
        gradient = self.parameter.grad.numpy()
        self.velocity = 0.9 * self.velocity + gradient
        value = self.parameter.numpy()
        self.parameter.assign(value - self.rate * (self.velocity + self.decay * value))
        self.parameter.grad.zero_()


wp.set_device("cpu")
rng = np.random.default_rng(32)
a = wp.array(rng.uniform(0.3, 0.9, (ROWS, COLS)), dtype=float, requires_grad=True)
x = wp.array(rng.uniform(0.2, 1.4, COLS), dtype=float)
optimizer = Momentum(a, 0.01, 0.1)
for it in range(3):
    y = wp.zeros(ROWS, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(product, dim=(ROWS, COLS), inputs=[a, x, y])
        wp.launch(squares, dim=ROWS, inputs=[y, loss])
    tape.backward(loss)
    print("iter", it, "loss", float(loss.numpy()[0]), "a", a.numpy().tolist(), "grad_a", a.grad.numpy().tolist())
    optimizer.step()
