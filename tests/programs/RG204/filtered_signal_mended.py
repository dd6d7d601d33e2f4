# expect: right
"""Shapes a pulse; the detector's smoothing is a convolution in kernels."""

import numpy as np
import warp as wp

N = 16
WINDOW = np.array([0.25, 0.5, 0.25])


@wp.kernel
def pulse(a: wp.array(dtype=wp.float64), t: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = a[0] * wp.exp(-a[1] * t[i] * t[i]) + a[2] * t[i]


@wp.kernel
def compare(
    smooth: wp.array(dtype=wp.float64),
    a: wp.array(dtype=wp.float64),
    target: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    d = smooth[i] * smooth[i] - target[i]
    wp.atomic_add(loss, 0, d * d + wp.float64(0.01) * a[0] * a[0])


@wp.kernel
def blur(
    signal: wp.array(dtype=wp.float64),
    window: wp.array(dtype=wp.float64),
    blurred: wp.array(dtype=wp.float64),
    total: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    value = window[1] * signal[i]
    if i > 0:
        value = value + window[0] * signal[i - 1]
    if i < N - 1:
        value = value + window[2] * signal[i + 1]
    blurred[i] = value
    wp.atomic_add(total, 0, wp.abs(value))


@wp.kernel
def saturate(
    blurred: wp.array(dtype=wp.float64), total: wp.array(dtype=wp.float64), smooth: wp.array(dtype=wp.float64)
):
    i = wp.tid()
    smooth[i] = blurred[i] / (wp.float64(1.0) + wp.float64(0.1) * total[0])


def main():
    window = wp.array(WINDOW, dtype=wp.float64)
    t = wp.array(np.linspace(-1.0, 1.0, N), dtype=wp.float64)
    target = wp.array(np.linspace(0.2, 0.4, N), dtype=wp.float64)
    a = wp.array([1.1, 0.8, 0.3], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        y = wp.zeros(N, dtype=wp.float64, requires_grad=True)
        blurred, smooth = (wp.zeros(N, dtype=wp.float64, requires_grad=True) for _ in range(2))
        total = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(pulse, dim=N, inputs=[a, t, y])
            wp.launch(blur, dim=N, inputs=[y, window, blurred, total])
            wp.launch(saturate, dim=N, inputs=[blurred, total, smooth])
            wp.launch(compare, dim=N, inputs=[smooth, a, target, loss])
        tape.backward(loss)
        g = a.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "a", a.numpy().tolist(), "grad_a", g.tolist())
        a.assign(a.numpy() - 0.05 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
