# expect: right
"""A temperature profile is smoothed from one array into another, sweeping along it in one thread."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def heat(power: wp.array(dtype=float), t: wp.array(dtype=float)):
    i = wp.tid()
    t[i] = power[i] * power[i] + 0.1 * power[i]


@wp.kernel
def smooth(t: wp.array(dtype=float), smoothed: wp.array(dtype=float)):
    before = t[0]
    smoothed[0] = t[0]
    smoothed[5] = t[5]
    for i in range(1, 5):
        before = 0.5 * t[i] + 0.25 * (before * before + t[i + 1])
        smoothed[i] = before


@wp.kernel
def misfit(t: wp.array(dtype=float), seen: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = t[i] - seen[i]
    wp.atomic_add(loss, 0, d * d)


power = wp.array([1.0, 0.3, 0.8, 1.2, 0.5, 0.9], dtype=float, requires_grad=True)
seen = wp.array([0.8, 0.6, 0.7, 0.9, 0.6, 0.8], dtype=float)
for it in range(3):
    t = wp.zeros(6, dtype=float, requires_grad=True)
    smoothed = wp.zeros(6, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(heat, dim=6, inputs=[power, t])
        wp.launch(smooth, dim=1, inputs=[t, smoothed])
        wp.launch(misfit, dim=6, inputs=[smoothed, seen, loss])
    tape.backward(loss)
    g = power.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "power", power.numpy().tolist(), "grad_power", g.tolist())
    power.assign(power.numpy() - 0.05 * g)
    tape.zero()
