# expect: wrong
"""Fits a decay; the gradient is fetched at the top of the loop."""

import numpy as np
import warp as wp


@wp.kernel
def decay(
    p: wp.array(dtype=wp.float64),
    t: wp.array(dtype=wp.float64),
    y: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    d = p[0] * wp.exp(-p[1] * t[i]) - y[i]
    wp.atomic_add(loss, 0, d * d)


def main():
    times = np.linspace(0.0, 2.0, 9)
    t = wp.array(times, dtype=wp.float64)
    y = wp.array(1.5 * np.exp(-0.9 * times), dtype=wp.float64)
    p = wp.array([0.8, 0.4], dtype=wp.float64, requires_grad=True)
    for it in range(6):
        g = p.grad.numpy().copy()  # <- RG302
        p.grad.zero_()
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(decay, dim=9, inputs=[p, t, y, loss])
        tape.backward(loss)
        print("iter", it, "loss", loss.numpy()[0], "p", p.numpy().tolist(), "grad_p", g.tolist())
        p.assign(p.numpy() - 0.08 * g)


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
