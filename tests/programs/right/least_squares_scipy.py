# expect: right
"""SciPy's Gauss-Newton: rows of the Jacobian, one backward pass each."""

import numpy as np
import warp as wp
from scipy.optimize import minimize

wp.set_device("cpu")


@wp.kernel
def objective(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    a = x[2 * i]
    b = x[2 * i + 1]
    u = a * a + b - wp.float64(11.0)
    v = a + b * b - wp.float64(7.0)
    wp.atomic_add(loss, 0, u * u + v * v)


class Problem:
    def __init__(self):
        self.count = 0
        self.value = None

    def run(self, x):
        self.x = wp.array(x, dtype=wp.float64, requires_grad=True)
        self.loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        self.tape = wp.Tape()
        with self.tape:
            wp.launch(objective, dim=x.size // 2, inputs=[self.x, self.loss])
        return float(self.loss.numpy()[0])

    def gradient(self, x):
        value = self.run(x)
        self.tape.backward(self.loss)
        g = self.x.grad.numpy().copy()
        print("iter", self.count, "loss", value, "x", x.tolist(), "grad_x", g.tolist())
        self.count += 1
        return g


problem = Problem()
start = np.array([1.0, 1.5, -2.0, 2.0])
minimize(problem.run, start, jac=problem.gradient, method="BFGS", options={"maxiter": 4})
