# expect: wrong
"""Buffers are made once and only the parameter's gradient is cleared; one kernel has no backward pass."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def soak(rain: wp.array(dtype=float), soil: wp.array(dtype=float)):
    i = wp.tid()
    soil[i] = rain[i] * rain[i] + 0.2 * rain[i]


@wp.kernel(enable_backward=False)  # <- RG202
def drain(soil: wp.array(dtype=float), river: wp.array(dtype=float)):
    i = wp.tid()
    river[i] = 0.7 * wp.sin(soil[i])


@wp.kernel
def flood(river: wp.array(dtype=float), rain: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    loss[i] = (river[i] + 0.5 * rain[i]) * (river[i] - 0.3)


rain = wp.array([0.3, 0.8, 1.1], dtype=float, requires_grad=True)
soil = wp.zeros(3, dtype=float, requires_grad=True)
river = wp.zeros(3, dtype=float, requires_grad=True)
loss = wp.zeros(3, dtype=float, requires_grad=True)
for it in range(3):
    tape = wp.Tape()
    with tape:
        wp.launch(soak, dim=3, inputs=[rain, soil])
        wp.launch(drain, dim=3, inputs=[soil, river])
        wp.launch(flood, dim=3, inputs=[river, rain, loss])
    tape.backward(grads={loss: wp.ones(3, dtype=float)})
    g = rain.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy().sum()), "rain", rain.numpy().tolist(), "grad_rain", g.tolist())
    rain.assign(rain.numpy() - 0.05 * g)
    rain.grad.zero_()
