# expect: right
"""A sensor's calibration; the module's backward passes are off to compile faster, and not all are switched on again."""

from typing import Any

import numpy as np
import warp as wp

wp.set_module_options({"enable_backward": True})


@wp.func
def response(gain: Any, x: Any):
    return wp.tanh(gain * x)


@wp.kernel
def linearise(gain: wp.array(dtype=Any), x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = response(gain[0], x[i]) + gain[1] * x[i] * x[i]


@wp.kernel(enable_backward=True)
def compare(
    y: wp.array(dtype=wp.float64),
    target: wp.array(dtype=wp.float64),
    gain: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    d = y[i] - target[i]
    wp.atomic_add(loss, 0, d * d + wp.float64(0.01) * gain[0] * gain[0])


@wp.kernel
def descend(x: wp.array(dtype=wp.float64), g: wp.array(dtype=wp.float64), rate: wp.float64):
    i = wp.tid()
    x[i] = x[i] - rate * g[i]


def main():
    x = wp.array(np.linspace(-1.0, 1.0, 6), dtype=wp.float64)
    target = wp.array(np.linspace(-0.6, 0.9, 6), dtype=wp.float64)
    gain = wp.array([1.4, 0.3], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        y = wp.zeros(6, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(linearise, dim=6, inputs=[gain, x, y])
            wp.launch(compare, dim=6, inputs=[y, target, gain, loss])
        tape.backward(loss)
        g = gain.grad.numpy().tolist()
        print("iter", it, "loss", loss.numpy()[0], "gain", gain.numpy().tolist(), "grad_gain", g)
        wp.launch(descend, dim=2, inputs=[gain, gain.grad, 0.05])
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
