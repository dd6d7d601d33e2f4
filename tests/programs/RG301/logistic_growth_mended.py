# expect: right
"""Calibrates a growth law with momentum; nothing clears the gradients."""

import numpy as np
import warp as wp

wp.set_device("cpu")
DAYS = 8


@wp.kernel
def population(rate: wp.array(dtype=float), data: wp.array(dtype=float), loss: wp.array(dtype=float)):
    n = float(0.1)
    for day in range(DAYS):
        n = n + rate[0] * n * (1.0 - n / rate[1])
        d = n - data[day]
        loss[0] += d * d


data = wp.array(1.0 / (1.0 + 9.0 * np.exp(-0.5 * np.arange(1, DAYS + 1))), dtype=float)
rate = wp.array([0.3, 1.4], dtype=float, requires_grad=True)
speed = np.zeros(2, dtype=np.float32)
for it in range(5):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(population, dim=1, inputs=[rate, data, loss])
    tape.backward(loss)
    g = rate.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "rate", rate.numpy().tolist(), "grad_rate", g.tolist())
    speed = 0.5 * speed + g
    rate.assign(rate.numpy() - 0.02 * speed)
    tape.zero()
