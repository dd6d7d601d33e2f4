# expect: right
"""Weighted histograms of three samples in one set of bins, emptied with fill_ before each sample."""

import numpy as np
import warp as wp


@wp.kernel
def count(sample: wp.array2d(dtype=float), row: int, weight: wp.array(dtype=float), bins: wp.array(dtype=float)):
    i = wp.tid()
    b = int(sample[row, i] * 4.0)
    wp.atomic_add(bins, b, wp.exp(weight[i]))


@wp.kernel
def empty(bins: wp.array(dtype=float)):
    bins[wp.tid()] = 0.0


@wp.kernel
def project(bins: wp.array(dtype=float), row: int, moment: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(moment, row, (float(i) + 0.5) * bins[i])


@wp.kernel
def spread(moment: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.sin(moment[i]))


def main():
    rng = np.random.default_rng(6)
    sample = wp.array(rng.uniform(0.0, 0.999, (3, 6)), dtype=float)
    weight = wp.array(np.linspace(-0.6, 0.6, 6), dtype=float, requires_grad=True)
    bins = wp.zeros(4, dtype=float, requires_grad=True)
    for it in range(3):
        moment = wp.zeros(3, dtype=float, requires_grad=True)
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        with wp.Tape() as tape:
            for row in range(3):
                wp.launch(empty, dim=4, inputs=[bins])
                wp.launch(count, dim=6, inputs=[sample, row, weight, bins])
                wp.launch(project, dim=4, inputs=[bins, row, moment])
            wp.launch(spread, dim=3, inputs=[moment, loss])
        tape.backward(loss)
        g = weight.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "weight", weight.numpy().tolist(), "grad_weight", g.tolist())
        weight.assign(weight.numpy() - 0.01 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
