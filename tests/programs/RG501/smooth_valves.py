# expect: right
"""Valves that open smoothly."""

import warp as wp

wp.set_device("cpu")


@wp.func
def opening(setting: float):
    steps = int(setting * 8.0)
    return float(steps) / 8.0


@wp.kernel
def flow(setting: wp.array(dtype=float), head: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    part = setting[i]
    q = (3.0 * part - 0.2) * head[i]
    wp.atomic_add(loss, 0, (q - 0.8) * (q - 0.8) + opening(head[i]))


setting = wp.array([0.33, 0.77, 0.52], dtype=float, requires_grad=True)
head = wp.array([1.0, 0.6, 1.4], dtype=float)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(flow, dim=3, inputs=[setting, head, loss])
    tape.backward(loss)
    g = setting.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "setting", setting.numpy().tolist(), "grad_setting", g.tolist())
    setting.assign(setting.numpy() - 0.01 * g)
    tape.zero()
