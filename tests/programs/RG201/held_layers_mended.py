# expect: right
"""The layers of a network are structs in an array."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.struct
class Weights:
    matrix: wp.array2d(dtype=float)
    bias: wp.array(dtype=float)


@wp.struct
class Layer:
    gain: float
    weights: Weights
    state: wp.array(dtype=float)


@wp.func
def activate(layer: Layer, i: int, x: float):
    layer.state[i] = layer.gain * wp.tanh(x)


@wp.kernel
def forward(layers: wp.array(dtype=Layer), k: int):
    i = wp.tid()
    before = layers[k]
    s = layers[k + 1].weights.bias[i]
    for j in range(3):
        s += layers[k + 1].weights.matrix[i, j] * before.state[j]
    activate(layers[k + 1], i, s)


@wp.kernel
def misfit(layers: wp.array(dtype=Layer), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = layers[2].state[i] - 0.3
    wp.atomic_add(loss, 0, d * d)


def make_layers():
    rng = np.random.default_rng(42)
    layers = []
    for k in range(3):
        layer = Layer()
        layer.gain = 1.0 + 0.5 * k
        layer.weights.matrix = wp.array(rng.normal(0.0, 0.6, (3, 3)), dtype=float, requires_grad=True)
        layer.weights.bias = wp.array(rng.normal(0.0, 0.2, 3), dtype=float, requires_grad=True)
        layers.append(layer)
    layers[0].state = wp.array([0.5, -1.0, 0.8], dtype=float, requires_grad=True)
    layers[1].state = wp.zeros(3, dtype=float, requires_grad=True)
    layers[2].state = wp.zeros(3, dtype=float, requires_grad=True)
    return layers


def main():
    layers = make_layers()
    network = wp.array(layers, dtype=Layer)
    parameters = {f"w{k}": layers[k].weights.matrix for k in (1, 2)} | {f"b{k}": layers[k].weights.bias for k in (1, 2)}
    for it in range(3):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            for k in range(2):
                wp.launch(forward, dim=3, inputs=[network, k])
            wp.launch(misfit, dim=3, inputs=[network, loss])
        tape.backward(loss)
        line = ["iter", it, "loss", float(loss.numpy()[0])]
        for name, p in parameters.items():
            line += [name, p.numpy().ravel().tolist(), "grad_" + name, p.grad.numpy().ravel().tolist()]
        print(*line)
        for p in parameters.values():
            p.assign(p.numpy() - 0.1 * p.grad.numpy())
            p.grad.zero_()
        for layer in layers:
            if layer.state.grad is not None:
                layer.state.grad.zero_()


main()
