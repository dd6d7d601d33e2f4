# expect: wrong
"""Rays through two lenses; the field between them was allocated without a gradient."""

import numpy as np
import warp as wp

wp.set_device("cpu")
RAYS = 5


@wp.kernel
def lens(ray: wp.array(dtype=wp.vec2), power: wp.array(dtype=float), which: int, out: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    height, angle = ray[i][0], ray[i][1]
    bent = angle - power[which] * wp.sin(height)
    out[i] = wp.vec2(height + 0.7 * bent, bent)


@wp.kernel
def focus(ray: wp.array(dtype=wp.vec2), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, ray[i][0] * ray[i][0] / float(RAYS))


heights = np.stack([np.linspace(-0.5, 0.5, RAYS), np.full(RAYS, 0.1)], axis=1)
power = wp.array([0.4, 0.6], dtype=float, requires_grad=True)
rays = wp.array(heights, dtype=wp.vec2)
between = wp.zeros(RAYS, dtype=wp.vec2)  # <- RG201
behind = wp.zeros(RAYS, dtype=wp.vec2, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
for it in range(4):
    loss.zero_()
    tape = wp.Tape()
    with tape:
        wp.launch(lens, dim=RAYS, inputs=[rays, power, 0], outputs=[between])
        wp.launch(lens, dim=RAYS, inputs=[between, power, 1], outputs=[behind])
        wp.launch(focus, dim=RAYS, inputs=[behind], outputs=[loss])
    tape.backward(loss)
    g = power.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "power", power.numpy().tolist(), "grad_power", g.tolist())
    power.assign(power.numpy() - 0.5 * g)
    tape.zero()
