# expect: wrong
"""Heat exchangers by their logarithmic mean temperature difference; equal ends have their own formula."""

import numpy as np
import warp as wp


@wp.func
def log_mean(a: wp.float64, b: wp.float64):
    ratio = a / b
    same = wp.abs(a - b) < wp.float64(1.0e-9)
    return wp.where(same, wp.float64(0.5) * (a + b), (a - b) / wp.log(ratio))  # <- RG408


@wp.kernel
def duty(
    hot: wp.array(dtype=wp.float64),
    cold: wp.array(dtype=wp.float64),
    area: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    q = area[i] * log_mean(hot[i], cold[i])
    wp.atomic_add(loss, 0, q * q)


def main():
    hot = wp.array([3.0, 2.0, 1.5], dtype=wp.float64)
    cold = wp.array([1.0, 2.0, 2.5], dtype=wp.float64)
    area = wp.array([0.5, 0.7, 0.2], dtype=wp.float64, requires_grad=True)
    hot.requires_grad = True
    for it in range(3):
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(duty, dim=3, inputs=[hot, cold, area, loss])
        tape.backward(loss)
        g = hot.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "hot", hot.numpy().tolist(), "grad_hot", g.tolist())
        change = np.where(np.isfinite(g), g, 0.0)
        hot.assign(hot.numpy() - 0.02 * change * np.array([1.0, 0.0, 1.0]))
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
