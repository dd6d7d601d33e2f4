# expect: wrong
"""A mixture of curves; its weights are normalised by a method that is called before the recording starts."""

import numpy as np
import warp as wp


@wp.kernel
def normalise(raw: wp.array(dtype=wp.float64), weight: wp.array(dtype=wp.float64)):
    i = wp.tid()
    total = wp.float64(0.0)
    for j in range(3):
        total += wp.exp(raw[j])
    weight[i] = wp.exp(raw[i]) / total


@wp.kernel
def mix(
    weight: wp.array(dtype=wp.float64),
    raw: wp.array(dtype=wp.float64),
    x: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    y = weight[0] * wp.sin(x[i]) + weight[1] * x[i] + weight[2] * x[i] * x[i]
    d = y - wp.float64(0.4)
    wp.atomic_add(loss, 0, d * d + wp.float64(0.02) * raw[0] * raw[0])


class Mixture:
    def __init__(self):
        self.raw = wp.array([0.2, -0.4, 0.5], dtype=wp.float64, requires_grad=True)
        self.weight = wp.zeros(3, dtype=wp.float64, requires_grad=True)
        self.x = wp.array(np.linspace(0.1, 1.2, 6), dtype=wp.float64)

    def prepare(self):
        wp.launch(normalise, dim=3, inputs=[self.raw, self.weight])  # <- RG205

    def evaluate(self):
        self.prepare()
        self.loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        self.tape = wp.Tape()
        with self.tape:
            wp.launch(mix, dim=6, inputs=[self.weight, self.raw, self.x, self.loss])
        self.tape.backward(self.loss)
        return self.loss.numpy()[0], self.raw.grad.numpy().copy()


def main():
    model = Mixture()
    for it in range(3):
        value, g = model.evaluate()
        print("iter", it, "loss", value, "raw", model.raw.numpy().tolist(), "grad_raw", g.tolist())
        model.raw.assign(model.raw.numpy() - 0.2 * g)
        model.tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
