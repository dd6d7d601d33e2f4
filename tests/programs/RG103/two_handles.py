# expect: wrong
"""An exporter holds its own array over the simulation's memory, and rescales it for a file format."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def pull(x: wp.array(dtype=float), k: wp.array(dtype=float), force: wp.array(dtype=float)):
    i = wp.tid()
    force[i] = k[0] * x[i] * x[i] * x[i] + k[1] * x[i]


@wp.kernel
def work(force: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.cos(force[i]))


@wp.kernel
def scale(a: wp.array(dtype=float), factor: float):
    i = wp.tid()
    a[i] = factor * a[i]


class Exporter:
    def __init__(self, array):
        self.view = wp.array(ptr=array.ptr, shape=array.shape, dtype=float)

    def write(self):
        wp.launch(scale, dim=self.view.size, inputs=[self.view, 1000.0])  # <- RG103
        return self.view.numpy().copy()


x0 = np.array([0.5, -0.8, 1.1, 0.9], dtype=np.float32)
k = wp.array([0.6, -0.4], dtype=float, requires_grad=True)
for it in range(3):
    x = wp.array(x0, dtype=float)
    exporter = Exporter(x)
    force = wp.zeros(4, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(pull, dim=4, inputs=[x, k, force])
        wp.launch(work, dim=4, inputs=[force, loss])
    exporter.write()
    tape.backward(loss)
    g = k.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.05 * g / np.linalg.norm(g))
    tape.zero()
