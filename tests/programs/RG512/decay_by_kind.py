# expect: wrong
"""Fits the decay rates of three kinds of particles, looked up in a small table in half precision."""

import numpy as np
import warp as wp

COUNT = 60000


@wp.func
def remaining(rate: wp.float16, age: float):
    return wp.exp(-float(rate) * age)


@wp.kernel
def misfit(
    rates: wp.array(dtype=wp.float16),
    kind: wp.array(dtype=int),
    age: wp.array(dtype=float),
    loss: wp.array(dtype=float),
):
    i = wp.tid()
    d = remaining(rates[kind[i]], age[i]) - 0.9  # <- RG512
    wp.atomic_add(loss, 0, 0.01 * d * d)


def main():
    rates = wp.array([0.5, 0.75, 1.0], dtype=wp.float16, requires_grad=True)
    kind = wp.array(np.arange(COUNT) % 3, dtype=int)
    age = wp.array(np.linspace(0.5, 1.0, COUNT), dtype=float)
    for it in range(3):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(misfit, dim=COUNT, inputs=[rates, kind, age, loss])
        tape.backward(loss)
        g = rates.grad.numpy().astype(float)
        print("iter", it, "loss", loss.numpy()[0], "rates", rates.numpy().tolist(), "grad_rates", g.tolist())
        rates.assign((rates.numpy().astype(float) - 0.002 * g).astype(np.float16))
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
