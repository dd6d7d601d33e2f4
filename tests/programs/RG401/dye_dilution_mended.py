# expect: right
"""A dye is diluted step by step in a chain of tanks held one array a step."""

import warp as wp

wp.set_device("cpu")


@wp.struct
class Tanks:
    dye: wp.array(dtype=float)
    flow: wp.array(dtype=float)


@wp.kernel
def pour(start: wp.array(dtype=float), tanks: Tanks):
    i = wp.tid()
    tanks.dye[i] = start[i] * start[i]


@wp.kernel
def dilute(tanks: Tanks, k: int, after: Tanks):
    i = wp.tid()
    after.dye[i] = tanks.dye[i] / (1.0 + tanks.flow[k])


@wp.kernel
def measure(tanks: Tanks, loss: wp.array(dtype=float)):
    i = wp.tid()
    d = tanks.dye[i] - 0.2
    wp.atomic_add(loss, 0, d * d)


start = wp.array([1.0, 1.5], dtype=float)
flow = wp.array([0.5, 0.2, 0.9], dtype=float, requires_grad=True)
for it in range(3):
    steps = [Tanks() for _ in range(4)]
    for tanks in steps:
        tanks.dye = wp.zeros(2, dtype=float, requires_grad=True)
        tanks.flow = flow
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(pour, dim=2, inputs=[start, steps[0]])
        for k in range(3):
            wp.launch(dilute, dim=2, inputs=[steps[k], k, steps[k + 1]])
        wp.launch(measure, dim=2, inputs=[steps[3], loss])
    tape.backward(loss)
    g = flow.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "flow", flow.numpy().tolist(), "grad_flow", g.tolist())
    flow.assign(flow.numpy() - 0.1 * g)
    tape.zero()
