# expect: wrong
"""A filter whose window is padded by a slice assignment before the gradient is taken."""

import numpy as np
import warp as wp

TAPS = 6


@wp.kernel
def respond(h: wp.array(dtype=float), signal: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for k in range(TAPS):
        s += h[k] * signal[i + k] * signal[i + k]
    out[i] = s


@wp.kernel
def compare(out: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = out[i] - 1.0
    wp.atomic_add(loss, 0, d * d)


wp.set_device("cpu")
rng = np.random.default_rng(2)
samples = rng.normal(size=(4, 12)).astype(np.float32)
h = wp.array(np.full(TAPS, 0.2), dtype=float, requires_grad=True)
for it in range(3):
    signal = wp.array(samples[it], dtype=float)
    out = wp.zeros(12 - TAPS, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(respond, dim=12 - TAPS, inputs=[h, signal, out])
        wp.launch(compare, dim=12 - TAPS, inputs=[out, loss])
    value = float(loss.numpy()[0])
    signal[:5].assign(samples[it + 1, :5])  # <- RG103
    tape.backward(loss)
    gradient = h.grad.numpy()
    print("iter", it, "loss", value, "h", h.numpy().tolist(), "grad_h", gradient.tolist())
    h.assign(h.numpy() - 0.001 * gradient)
    tape.zero()
