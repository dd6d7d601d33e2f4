# expect: wrong
"""An array shares the memory of a NumPy array, which the host reuses before the backward pass."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def respond(gain: wp.array(dtype=float), light: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.tanh(gain[i] * light[i])


@wp.kernel
def total(out: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (out[i] - 0.5) * (out[i] - 0.5))


frames = np.random.default_rng(45).uniform(0.2, 1.5, (4, 3)).astype(np.float32)
frame = frames[0].copy()
light = wp.array(frame, dtype=float, copy=False)
gain = wp.array([0.5, 1.2, 0.8], dtype=float, requires_grad=True)
for it in range(3):
    out = wp.zeros(3, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    seen = frame.tolist()
    tape = wp.Tape()
    with tape:
        wp.launch(respond, dim=3, inputs=[gain, light, out])
        wp.launch(total, dim=3, inputs=[out, loss])
    frame[:] = frames[it + 1]  # <- RG103
    tape.backward(loss)
    g = gain.grad.numpy().copy()
    value = float(loss.numpy()[0])
    print("iter", it, "loss", value, "gain", gain.numpy().tolist(), "light", seen, "grad_gain", g.tolist())
    gain.assign(gain.numpy() - 0.2 * g)
    tape.zero()
