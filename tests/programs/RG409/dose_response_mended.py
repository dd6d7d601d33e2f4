# expect: right
"""Fits the exponents of dose-response curves; the control group got nothing."""

import numpy as np
import warp as wp


@wp.func
def response(dose: wp.float64, half: wp.float64, exponent: wp.float64):
    raised = wp.float64(0.0)
    if dose > wp.float64(0.0):
        raised = (dose / half) ** exponent
    return raised / (wp.float64(1.0) + raised)


@wp.kernel
def misfit(
    dose: wp.array(dtype=wp.float64),
    exponent: wp.array(dtype=wp.float64),
    seen: wp.array2d(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    group, drug = wp.tid()
    d = response(dose[group], wp.float64(0.8), exponent[drug]) - seen[group, drug]
    wp.atomic_add(loss, 0, d * d)


def main():
    dose = wp.array([0.0, 0.5, 1.0, 2.0], dtype=wp.float64)
    exponent = wp.array([1.4, 2.2], dtype=wp.float64, requires_grad=True)
    seen = wp.array(np.array([[0.0, 0.05], [0.3, 0.2], [0.6, 0.7], [0.8, 0.9]]), dtype=wp.float64)
    for it in range(3):
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(misfit, dim=(4, 2), inputs=[dose, exponent, seen, loss])
        tape.backward(loss)
        g = exponent.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "exponent", exponent.numpy().tolist(), "grad_exponent", g.tolist())
        exponent.assign(exponent.numpy() - 0.1 * np.nan_to_num(g))
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
