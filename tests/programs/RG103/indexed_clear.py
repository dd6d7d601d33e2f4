# expect: wrong
"""After the tape, the edge of a field is cleared through an indexed array, for the next frame."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def respond(gain: wp.array(dtype=float), field: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = gain[i] * field[i] * field[i] + wp.cos(gain[i])


@wp.kernel
def clear(cells: wp.indexedarray(dtype=float)):
    i = wp.tid()
    cells[i] = 0.1


@wp.kernel
def total(out: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, out[i] * out[i])


edge = wp.array([4, 0], dtype=wp.int32)
gain = wp.array([0.5, 1.2, 0.8, -0.4, 0.7], dtype=float, requires_grad=True)
frame = np.array([0.9, 0.3, -0.7, 1.1, 0.6], dtype=np.float32)
for it in range(3):
    field = wp.array(frame, dtype=float)
    cells = wp.indexedarray(field, [edge])
    out = wp.zeros(5, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(respond, dim=5, inputs=[gain, field, out])
        wp.launch(total, dim=5, inputs=[out, loss])
    wp.launch(clear, dim=2, inputs=[cells])  # <- RG103
    tape.backward(loss)
    g = gain.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "gain", gain.numpy().tolist(), "grad_gain", g.tolist())
    gain.assign(gain.numpy() - 0.05 * g)
    tape.zero()
