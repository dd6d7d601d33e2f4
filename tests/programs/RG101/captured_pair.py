# expect: wrong
"""A captured training step of a population model, whose two buffers swap roles over the generations."""

import warp as wp

wp.set_device("cpu")
GENERATIONS = 5


@wp.kernel
def grow(rate: wp.array(dtype=float), n: wp.array(dtype=float), after: wp.array(dtype=float)):
    i = wp.tid()
    after[i] = n[i] + rate[i] * n[i] * (1.0 - n[i])


@wp.kernel
def misfit(n: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (n[i] - 0.6) * (n[i] - 0.6))


rate = wp.array([0.4, 0.7, 1.1], dtype=float, requires_grad=True)
start = wp.array([0.1, 0.2, 0.15], dtype=float)
one, other = (wp.zeros(3, dtype=float, requires_grad=True) for _ in range(2))
loss = wp.zeros(1, dtype=float, requires_grad=True)
wp.load_module(device="cpu")
with wp.ScopedCapture() as capture:
    loss.zero_()
    tape = wp.Tape()
    with tape:
        wp.copy(one, start)
        for generation in range(GENERATIONS):
            n, after = (one, other) if generation % 2 == 0 else (other, one)
            wp.launch(grow, dim=3, inputs=[rate, n], outputs=[after])  # <- RG101
        wp.launch(misfit, dim=3, inputs=[after], outputs=[loss])
    tape.backward(loss)
for it in range(4):
    wp.capture_launch(capture.graph)
    gradient = rate.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "rate", rate.numpy().tolist(), "grad_rate", gradient.tolist())
    rate.assign(rate.numpy() - 0.2 * gradient)
    tape.zero()
