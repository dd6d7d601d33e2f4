# expect: wrong
"""Rain fills basins; how full each one is comes from what the atomic addition returns."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def begin(ground: wp.array(dtype=float), level: wp.array(dtype=float)):
    i = wp.tid()
    level[i] = 0.5 + 0.3 * wp.cos(ground[i])


@wp.kernel  # <- RG410
def rain(ground: wp.array(dtype=float), level: wp.array(dtype=float), spill: wp.array(dtype=float)):
    i = wp.tid()
    before = wp.atomic_add(level, i, ground[i] * ground[i])
    spill[i] = wp.sin(before) * ground[i] + before * before


@wp.kernel
def damage(spill: wp.array(dtype=float), level: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, spill[i] * spill[i] + 0.3 * level[i] * level[i])


ground = wp.array([0.4, 0.9, 1.3], dtype=float, requires_grad=True)
for it in range(3):
    level = wp.zeros(3, dtype=float, requires_grad=True)
    spill = wp.zeros(3, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(begin, dim=3, inputs=[ground, level])
        wp.launch(rain, dim=3, inputs=[ground, level, spill])
        wp.launch(damage, dim=3, inputs=[spill, level, loss])
    tape.backward(loss)
    g = ground.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "ground", ground.numpy().tolist(), "grad_ground", g.tolist())
    ground.assign((ground.numpy() - 0.01 * g).astype(np.float32))
    tape.zero()
