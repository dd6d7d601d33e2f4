# expect: wrong
"""Two sensors are calibrated, each on a tape of its own; the optimizer keeps what they were in other units."""

import numpy as np
import warp as wp

wp.set_device("cpu")
ARRAY = wp.array(dtype=wp.float64)
SIGNAL = np.array([0.2, 0.9, 1.4, 0.6])


@wp.kernel
def respond(curve: ARRAY, signal: ARRAY, shown: ARRAY):
    i = wp.tid()
    shown[i] = curve[0] * signal[i] + curve[1] * wp.sin(signal[i])


@wp.kernel
def mismatch(shown: ARRAY, wanted: ARRAY, loss: ARRAY):
    i = wp.tid()
    d = shown[i] - wanted[i]
    wp.atomic_add(loss, 0, d * d)


def numbers(values):
    return wp.array(values, dtype=wp.float64, requires_grad=True)


optical, acoustic = numbers([0.7, 0.2]), numbers([-0.4, 1.1])
held = [optical, acoustic]
optical, acoustic = numbers(0.5 * optical.numpy()), numbers(2.0 * acoustic.numpy())
signal = wp.array(SIGNAL, dtype=wp.float64)
wanted = [wp.array(w, dtype=wp.float64) for w in (np.exp(-SIGNAL), 0.3 * SIGNAL**2)]
for it in range(3):
    tapes, total = [], 0.0
    for curve, target in zip((optical, acoustic), wanted, strict=True):
        shown = wp.zeros(4, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(respond, dim=4, inputs=[curve, signal, shown])
            wp.launch(mismatch, dim=4, inputs=[shown, target, loss])
        tape.backward(loss)
        tapes.append(tape)
        total += loss.numpy().item()
    ga, gb = (p.grad.numpy().copy() for p in held)
    a, b = optical.numpy().tolist(), acoustic.numpy().tolist()
    print("iter", it, "loss", total, "a", a, "b", b, "grad_a", ga.tolist(), "grad_b", gb.tolist())
    for p, g in zip(held, (ga, gb), strict=True):
        p.assign(p.numpy() - 0.05 * g)  # <- RG312
    for tape in tapes:
        tape.zero()
