# expect: wrong
"""A model converts its weights when it is first used; the trainer keeps stepping the arrays from before."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N = 4
ARRAY = wp.array(dtype=wp.float64)


@wp.kernel
def layer(a: ARRAY, b: ARRAY, x: ARRAY, y: ARRAY):
    i = wp.tid()
    y[i] = wp.tanh(a[i] * x[i] + b[i] * x[(i + 1) % x.shape[0]])


@wp.kernel
def distance(y: ARRAY, loss: ARRAY):
    i = wp.tid()
    d = y[i] - wp.float64(0.4)
    wp.atomic_add(loss, 0, d * d)


@wp.kernel(enable_backward=False)
def descend(value: ARRAY, gradient: ARRAY):
    i = wp.tid()
    value[i] = value[i] - wp.float64(0.1) * gradient[i]


class Model:
    def __init__(self, a, b):
        self.weights = {"a": wp.array(a, dtype=wp.float64, requires_grad=True)}
        self.weights["b"] = wp.array(b, dtype=wp.float64, requires_grad=True)
        self.ready = False

    def prepare(self):
        if not self.ready:
            self.weights = {
                k: wp.array(v.numpy(), dtype=wp.float64, requires_grad=True) for k, v in self.weights.items()
            }
            self.ready = True

    def __call__(self, x):
        self.prepare()
        y = wp.zeros(N, dtype=wp.float64, requires_grad=True)
        wp.launch(layer, dim=N, inputs=[self.weights["a"], self.weights["b"], x], outputs=[y])
        return y


model = Model(np.array([0.5, -0.7, 0.9, 0.2]), np.array([0.1, 0.6, -0.4, 0.8]))
trained = list(model.weights.values())
x = wp.array([1.0, -0.5, 0.7, 1.3], dtype=wp.float64)
for it in range(3):
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(distance, dim=N, inputs=[model(x), loss])
    tape.backward(loss)
    a, b = model.weights["a"].numpy().tolist(), model.weights["b"].numpy().tolist()
    ga, gb = (p.grad.numpy().tolist() for p in trained)
    print("iter", it, "loss", loss.numpy().item(), "a", a, "b", b, "grad_a", ga, "grad_b", gb)
    for p in trained:
        wp.launch(descend, dim=N, inputs=[p, p.grad])  # <- RG312
        p.grad.zero_()
    tape.zero()
