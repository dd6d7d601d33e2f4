# expect: right, remark RG506
"""A field is carried along from rest, so that every velocity stands at a kink of the interpolation between cells.

Half of the kinks bend upwards and half downwards: the derivative along a line through all of them is beyond the slopes
on both its sides.
"""

import numpy as np
import warp as wp

wp.set_device("cpu")
CELLS = 24


@wp.kernel
def carry(field: wp.array(dtype=float), velocity: wp.array(dtype=float), carried: wp.array(dtype=float)):
    i = wp.tid()
    place = float(i + 1) - velocity[i]
    left = wp.clamp(int(wp.floor(place)), 0, CELLS)
    weight = place - float(left)
    carried[i] = (1.0 - weight) * field[left] + weight * field[left + 1]


@wp.kernel
def compare(carried: wp.array(dtype=float), target: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (carried[i] - target[i]) * (carried[i] - target[i]))


rng = np.random.default_rng(3)
start = rng.uniform(0.5, 1.5, CELLS + 2).astype(np.float32)
field = wp.array(start, dtype=float)
target = wp.array(start[1:-1] + rng.uniform(-0.3, 0.3, CELLS).astype(np.float32), dtype=float)
velocity = wp.zeros(CELLS, dtype=float, requires_grad=True)
for it in range(2):
    carried = wp.zeros(CELLS, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(carry, dim=CELLS, inputs=[field, velocity, carried])
        wp.launch(compare, dim=CELLS, inputs=[carried, target, loss])
    tape.backward(loss)
    g = velocity.grad.numpy().copy()
    v = velocity.numpy().tolist()
    print("iter", it, "loss", loss.numpy().item(), "velocity", v, "grad_velocity", g.tolist())
    velocity.assign(velocity.numpy() - 0.02 * g)
    tape.zero()
