# expect: right
"""Only the sensitivity to the start is asked for."""

import warp as wp

wp.set_device("cpu")
STEPS = 4


@wp.kernel
def advance(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = x[i] + wp.float64(0.2) * wp.sin(x[i]) * x[(i + 1) % 3]


@wp.kernel
def total(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i])


start = [[0.4, 0.9, -0.3], [0.8, -0.2, 0.5], [1.1, 0.3, 0.6]]
for it in range(3):
    states = [wp.zeros(3, dtype=wp.float64, requires_grad=True) for _ in range(STEPS + 1)]
    states[0] = wp.array(start[it], dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        for k in range(STEPS):
            wp.launch(advance, dim=3, inputs=[states[k], states[k + 1]])
        wp.launch(total, dim=3, inputs=[states[STEPS], loss])
    tape.backward(loss)
    x0 = states[0]
    print("iter", it, "loss", loss.numpy().item(), "x0", x0.numpy().tolist(), "grad_x0", x0.grad.numpy().tolist())
