# expect: right
"""Inputs are normalised for a plot, in place, through the view that NumPy has of them."""

import numpy as np
import warp as wp


@wp.kernel
def logistic(
    w: wp.array(dtype=wp.float64),
    x: wp.array2d(dtype=wp.float64),
    y: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    z = w[2]
    for j in range(2):
        z = z + w[j] * x[i, j]
    p = wp.float64(1.0) / (wp.float64(1.0) + wp.exp(-z))
    wp.atomic_add(loss, 0, (p - y[i]) * (p - y[i]))


def main():
    rng = np.random.default_rng(8)
    features = rng.normal(size=(9, 2))
    labels = (features[:, 0] > 0.2).astype(float)
    w = wp.array([0.3, -0.2, 0.1], dtype=wp.float64, requires_grad=True)
    y = wp.array(labels, dtype=wp.float64)
    for it in range(3):
        x = wp.array(features, dtype=wp.float64)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(logistic, dim=9, inputs=[w, x, y, loss])
        table = x.numpy().copy()
        table -= table.min(axis=0)
        table /= table.max(axis=0)
        assert table.max() == 1.0
        tape.backward(loss)
        g = w.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "w", w.numpy().tolist(), "grad_w", g.tolist())
        w.assign(w.numpy() - 0.3 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
