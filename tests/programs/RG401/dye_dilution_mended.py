# expect: right
"""A dye is diluted step by step in a chain of tanks, with an array for every step."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def pour(start: wp.array(dtype=float), dye: wp.array2d(dtype=float)):
    i = wp.tid()
    dye[1, i] = start[i] * start[i]


@wp.kernel
def dilute(dye: wp.array2d(dtype=float), flow: wp.array(dtype=float), k: int, after: wp.array2d(dtype=float)):
    i = wp.tid()
    after[1, i] = dye[1, i] / (1.0 + flow[k])


@wp.kernel
def measure(dye: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = dye[i] - 0.2
    wp.atomic_add(loss, 0, d * d)


start = wp.array([1.0, 1.5], dtype=float)
flow = wp.array([0.5, 0.2, 0.9], dtype=float, requires_grad=True)
for it in range(3):
    steps = [wp.zeros((2, 2), dtype=float, requires_grad=True) for _ in range(4)]
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(pour, dim=2, inputs=[start, steps[0]])
        for k in range(3):
            wp.launch(dilute, dim=2, inputs=[steps[k], flow, k, steps[k + 1]])
        wp.launch(measure, dim=2, inputs=[steps[3][1], loss])
    tape.backward(loss)
    g = flow.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "flow", flow.numpy().tolist(), "grad_flow", g.tolist())
    flow.assign(flow.numpy() - 0.1 * g)
    tape.zero()
