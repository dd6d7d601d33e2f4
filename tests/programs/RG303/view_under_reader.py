# expect: wrong
"""SciPy minimises a chain of pendulums; the gradient it is given is a view that has been cleared."""

import numpy as np
import warp as wp
from scipy.optimize import minimize

wp.set_device("cpu")
LINKS = 4


@wp.kernel
def height(angle: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y = wp.float64(LINKS - i) * wp.cos(angle[i])
    bend = wp.float64(0.0)
    if i > 0:
        bend = angle[i] - angle[i - 1] - wp.float64(0.3)
    wp.atomic_add(loss, 0, y + wp.float64(2.0) * bend * bend)


class Chain:
    def __init__(self):
        self.angle = wp.zeros(LINKS, dtype=wp.float64, requires_grad=True)
        self.calls = 0

    def evaluate(self, values):
        self.angle.assign(values)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(height, dim=LINKS, inputs=[self.angle, loss])
        tape.backward(loss)
        gradient = self.angle.grad.numpy()
        tape.zero()  # <- RG303
        value = float(loss.numpy()[0])
        print("iter", self.calls, "loss", value, "angle", values.tolist(), "grad_angle", gradient.tolist())
        self.calls += 1
        return value, gradient


chain = Chain()
start = np.array([0.4, 0.2, 0.7, 0.1])
result = minimize(chain.evaluate, start, jac=True, method="L-BFGS-B", options={"maxiter": 3})
chain.evaluate(result.x + 0.1)
