# expect: right
"""A truss in which bars that carry too much are cut to their limit, in the kernel that has just used them."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def load(area: wp.array(dtype=float), force: wp.array(dtype=float), stress: wp.array(dtype=float)):
    i = wp.tid()
    stress[i] = force[i] / area[i]


@wp.kernel
def store(stress: wp.array(dtype=float), energy: wp.array(dtype=float)):
    i = wp.tid()
    energy[i] = 0.5 * stress[i] * stress[i]


@wp.kernel
def gather(energy: wp.array(dtype=float), area: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, energy[i] + 0.3 * area[i])


forces = wp.array([0.4, 1.5, 2.2, 0.7], dtype=float)
area = wp.array([1.0, 0.9, 1.1, 0.6], dtype=float, requires_grad=True)
velocity = np.zeros(4, dtype=np.float32)
for it in range(4):
    stress = wp.zeros(4, dtype=float, requires_grad=True)
    energy = wp.zeros_like(stress)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(load, dim=4, inputs=[area, forces], outputs=[stress])
        wp.launch(store, dim=4, inputs=[stress], outputs=[energy])
        wp.launch(gather, dim=4, inputs=[energy, area], outputs=[loss])
    tape.backward(loss)
    g = area.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "area", area.numpy().tolist(), "grad_area", g.tolist())
    velocity = 0.5 * velocity - 0.02 * g
    area.assign(area.numpy() + velocity)
    tape.zero()
