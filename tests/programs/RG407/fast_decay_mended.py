# expect: right
"""Decay through a native approximation of the exponential."""

import warp as wp

wp.set_device("cpu")

series = "float y = 1.0f - 0.25f * x; y = y * y; return y * y;"
slope = "float y = 1.0f - 0.25f * x; adj_x -= y * y * y * adj_ret;"


@wp.func_native(series, adj_snippet=slope)
def decay(x: float) -> float: ...


@wp.func
def remaining(rate: float, time: float):
    return decay(rate * time) + 0.05 * rate


@wp.kernel
def misfit(
    rate: wp.array(dtype=float), time: wp.array(dtype=float), seen: wp.array(dtype=float), loss: wp.array(dtype=float)
):
    i = wp.tid()
    d = remaining(rate[i % 2], time[i]) - seen[i]
    wp.atomic_add(loss, 0, d * d)


rate = wp.array([0.5, 1.1], dtype=float, requires_grad=True)
time = wp.array([0.2, 0.5, 0.9, 1.4], dtype=float)
seen = wp.array([0.8, 0.5, 0.7, 0.3], dtype=float)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(misfit, dim=4, inputs=[rate, time, seen, loss])
    tape.backward(loss)
    g = rate.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "rate", rate.numpy().tolist(), "grad_rate", g.tolist())
    rate.assign(rate.numpy() - 0.1 * g)
    tape.zero()
