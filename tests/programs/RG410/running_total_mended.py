# expect: right
"""Rain fills basins; how full each one is is read before the rain is added."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def begin(ground: wp.array(dtype=float), level: wp.array(dtype=float)):
    i = wp.tid()
    level[i] = 0.5 + 0.3 * wp.cos(ground[i])


@wp.kernel
def rain(
    ground: wp.array(dtype=float),
    level: wp.array(dtype=float),
    after: wp.array(dtype=float),
    spill: wp.array(dtype=float),
):
    i = wp.tid()
    before = level[i]
    after[i] = before + ground[i] * ground[i]
    spill[i] = wp.sin(before) * ground[i] + before * before


@wp.kernel
def damage(spill: wp.array(dtype=float), level: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, spill[i] * spill[i] + 0.3 * level[i] * level[i])


ground = wp.array([0.4, 0.9, 1.3], dtype=float, requires_grad=True)
for it in range(3):
    level = wp.zeros(3, dtype=float, requires_grad=True)
    after = wp.zeros(3, dtype=float, requires_grad=True)
    spill = wp.zeros(3, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(begin, dim=3, inputs=[ground, level])
        wp.launch(rain, dim=3, inputs=[ground, level, after, spill])
        wp.launch(damage, dim=3, inputs=[spill, after, loss])
    tape.backward(loss)
    g = ground.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "ground", ground.numpy().tolist(), "grad_ground", g.tolist())
    ground.assign((ground.numpy() - 0.01 * g).astype(np.float32))
    tape.zero()
