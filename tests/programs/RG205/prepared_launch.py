# expect: wrong
"""A heated plate in steps; the step was prepared once as a command, to save time in the loop."""

import numpy as np
import warp as wp

wp.set_device("cpu")
N, STEPS = 9, 4


@wp.kernel
def heat(u: wp.array(dtype=float), power: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    left = u[(i + N - 1) % N]
    right = u[(i + 1) % N]
    out[i] = u[i] + 0.2 * (left - 2.0 * u[i] + right) + 0.1 * power[i] * power[i]


@wp.kernel
def compare(u: wp.array(dtype=float), power: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = u[i] - 1.0
    wp.atomic_add(loss, 0, d * d + 0.05 * power[i])


power = wp.array(0.5 + 0.4 * np.cos(np.arange(N)), dtype=float, requires_grad=True)
for it in range(3):
    states = [wp.zeros(N, dtype=float, requires_grad=True) for _ in range(STEPS + 1)]
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    command = wp.launch(heat, dim=N, inputs=[states[0], power, states[1]], record_cmd=True)
    tape = wp.Tape()
    with tape:
        for step in range(STEPS):
            command.set_param_at_index(0, states[step])
            command.set_param_at_index(2, states[step + 1])
            command.launch()  # <- RG205
        wp.launch(compare, dim=N, inputs=[states[STEPS], power, loss])
    tape.backward(loss)
    g = power.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "power", power.numpy().tolist(), "grad_power", g.tolist())
    power.assign(power.numpy() - 0.05 * g)
    tape.zero()
