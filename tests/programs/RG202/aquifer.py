# expect: wrong
"""Finds conductivities of an aquifer from heads; a kernel copied from a viewer has its backward pass off."""

import numpy as np
import warp as wp

wp.set_device("cpu")
CELLS = 8


@wp.kernel(enable_backward=False)  # <- RG202
def face_conductivity(k: wp.array(dtype=float), face: wp.array(dtype=float)):
    i = wp.tid()
    face[i] = 2.0 * k[i] * k[i + 1] / (k[i] + k[i + 1])


@wp.kernel
def relax(
    head: wp.array(dtype=float), face: wp.array(dtype=float), k: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    if i == 0 or i == CELLS - 1:
        out[i] = head[i]
    else:
        gain = face[i] * (head[i + 1] - head[i]) - face[i - 1] * (head[i] - head[i - 1])
        out[i] = head[i] + 0.2 * gain + 0.01 * k[i]


@wp.kernel
def misfit(head: wp.array(dtype=float), seen: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = head[i] - seen[i]
    wp.atomic_add(loss, 0, d * d)


start = wp.array(np.linspace(1.0, 0.0, CELLS) ** 2, dtype=float)
seen = wp.array(np.linspace(1.0, 0.0, CELLS), dtype=float)
k = wp.array(1.0 + 0.3 * np.sin(np.arange(CELLS)), dtype=float, requires_grad=True)
for it in range(3):
    face = wp.zeros(CELLS - 1, dtype=float, requires_grad=True)
    heads = [start, *(wp.zeros(CELLS, dtype=float, requires_grad=True) for _ in range(6))]
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(face_conductivity, dim=CELLS - 1, inputs=[k, face])
        for t in range(6):
            wp.launch(relax, dim=CELLS, inputs=[heads[t], face, k, heads[t + 1]])
        wp.launch(misfit, dim=CELLS, inputs=[heads[-1], seen, loss])
    tape.backward(loss)
    g = k.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.5 * g)
    tape.zero()
