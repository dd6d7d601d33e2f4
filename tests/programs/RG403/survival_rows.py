# expect: wrong
"""Fits hazards so that each patient's chance to stay free of events meets a target; patients differ in their visits."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def survive(
    hazard: wp.array(dtype=float),
    first: wp.array(dtype=int),
    visits: wp.array(dtype=int),
    target: wp.array(dtype=float),
    loss: wp.array(dtype=float),
):
    patient = wp.tid()
    free = float(1.0)
    for v in range(first[patient], first[patient + 1]):  # <- RG403
        free *= 1.0 - hazard[visits[v]]
    miss = free - target[patient]
    wp.atomic_add(loss, 0, miss * miss)


hazard = wp.array([0.1, 0.3, 0.2, 0.15], dtype=float, requires_grad=True)
first = wp.array([0, 3, 4, 8], dtype=int)
visits = wp.array([0, 1, 2, 3, 0, 1, 3, 2], dtype=int)
target = wp.array([0.3, 0.95, 0.1], dtype=float)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(survive, dim=3, inputs=[hazard, first, visits, target, loss])
    tape.backward(loss)
    g = hazard.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "hazard", hazard.numpy().tolist(), "grad_hazard", g.tolist())
    hazard.assign((hazard.numpy() - 0.05 * g).astype(np.float32))
    tape.zero()
