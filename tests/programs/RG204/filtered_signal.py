# expect: wrong
"""Shapes a pulse; the detector's smoothing is a convolution in NumPy."""

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


class Detector:
    def __init__(self, window):
        self.window = window

    def __call__(self, signal):
        blurred = np.convolve(signal, self.window, mode="same")
        return blurred / (1.0 + 0.1 * np.abs(blurred).sum())


def main():
    detector = Detector(WINDOW)
    t = wp.array(np.linspace(-1.0, 1.0, N), dtype=wp.float64)
    target = wp.array(np.linspace(0.2, 0.4, N), dtype=wp.float64)
    a = wp.array([1.1, 0.8, 0.3], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        y = wp.zeros(N, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(pulse, dim=N, inputs=[a, t, y])
            seen = detector(y.numpy())
            smooth = wp.from_numpy(seen, dtype=wp.float64, requires_grad=True)  # <- RG204
            wp.launch(compare, dim=N, inputs=[smooth, a, target, loss])
        tape.backward(loss)
        g = a.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "a", a.numpy().tolist(), "grad_a", g.tolist())
        a.assign(a.numpy() - 0.05 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
