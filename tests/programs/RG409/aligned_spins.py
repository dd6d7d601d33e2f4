# expect: wrong
"""Neighbouring spins by the distance between their ends; two of them are parallel."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def couple(turn: wp.array(dtype=float), energy: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.vec2(wp.cos(turn[i]), wp.sin(turn[i]))
    b = wp.vec2(wp.cos(turn[i + 1]), wp.sin(turn[i + 1]))
    apart = wp.sqrt(2.0 - 2.0 * wp.dot(a, b))  # <- RG409
    wp.atomic_add(energy, 0, apart * apart * (1.0 + 0.3 * apart * apart))


turn = wp.array([0.0, 0.0, 0.9, -0.4], dtype=float, requires_grad=True)
for it in range(3):
    energy = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(couple, dim=3, inputs=[turn, energy])
    tape.backward(energy)
    g = turn.grad.numpy().copy()
    print("iter", it, "loss", float(energy.numpy()[0]), "turn", turn.numpy().tolist(), "grad_turn", g.tolist())
    turn.assign(turn.numpy() - 0.01 * np.where(np.isfinite(g), g, 0.0) * np.array([0.0, 0.0, 1.0, 1.0]))
    tape.zero()
