# expect: right
"""Parameters live in structs, one a layer, in a list; one loss an output, reported as their sum."""

import numpy as np
import warp as wp


@wp.struct
class Layer:
    weight: wp.array2d(dtype=float)
    bias: wp.array(dtype=float)


@wp.kernel
def forward(layer: Layer, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    s = layer.bias[i]
    for j in range(3):
        s += layer.weight[i, j] * x[j]
    y[i] = wp.tanh(s)


@wp.kernel
def errors(y: wp.array(dtype=float), e: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - 0.2 * float(i)
    e[i] = d * d


def make_layer(rng):
    layer = Layer()
    layer.weight = wp.array(rng.normal(0.0, 0.6, (3, 3)), dtype=float, requires_grad=True)
    layer.bias = wp.array(rng.normal(0.0, 0.2, 3), dtype=float, requires_grad=True)
    return layer


def main():
    rng = np.random.default_rng(31)
    layers = [make_layer(rng) for _ in range(2)]
    parameters = [p for layer in layers for p in (layer.weight, layer.bias)]
    names = ["w0", "b0", "w1", "b1"]
    x0 = wp.array([0.5, -1.0, 0.8], dtype=float)
    for it in range(3):
        e = wp.zeros(3, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            x = x0
            for layer in layers:
                y = wp.zeros(3, dtype=float, requires_grad=True)
                wp.launch(forward, dim=3, inputs=[layer, x, y])
                x = y
            wp.launch(errors, dim=3, inputs=[x, e])
        tape.backward(grads={e: wp.ones(3, dtype=float)})
        line = ["iter", it, "loss", float(e.numpy().sum())]
        for name, p in zip(names, parameters, strict=True):
            line += [name, p.numpy().tolist(), "grad_" + name, p.grad.numpy().tolist()]
        print(*line)
        for p in parameters:
            p.assign(p.numpy() - 0.1 * p.grad.numpy())
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
