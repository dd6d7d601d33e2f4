# expect: wrong
"""Heat in a rod; the end cells are reset through slices after each step."""

import numpy as np
import warp as wp

wp.set_device("cpu")
CELLS, STEPS = 8, 3


@wp.kernel
def conduct(t: wp.array(dtype=wp.float64), k: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    if i > 0 and i < t.shape[0] - 1:
        mean = wp.float64(0.5) * (t[i + 1] + t[i - 1])
        out[i] = t[i] + k[i] * (mean - t[i]) * t[i]
    else:
        out[i] = t[i]


@wp.kernel
def ambient(t: wp.array(dtype=wp.float64), now: wp.float64):
    t[wp.tid()] = wp.float64(1.0) + wp.float64(0.5) * now


@wp.kernel
def energy(t: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, t[i] * t[i] * t[i])


start = np.linspace(0.6, 1.9, CELLS)
k = wp.array(np.linspace(0.3, 0.7, CELLS), dtype=wp.float64, requires_grad=True)
for it in range(3):
    field = wp.array(start, dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        for s in range(STEPS):
            new = wp.zeros(CELLS, dtype=wp.float64, requires_grad=True)
            wp.launch(conduct, dim=CELLS, inputs=[field, k, new])
            wp.launch(energy, dim=CELLS, inputs=[new, loss])
            wp.launch(ambient, dim=2, inputs=[new[:2], float(s)])  # <- RG101
            field = new
        wp.launch(energy, dim=CELLS, inputs=[field, loss])
    tape.backward(loss)
    g = k.grad.numpy()
    print(f"iter {it} loss {loss.numpy()[0]} k {k.numpy().tolist()} grad_k {g.tolist()}")
    k.assign(k.numpy() - 0.002 * g)
    tape.zero()
