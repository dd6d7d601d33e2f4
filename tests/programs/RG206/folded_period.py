# expect: wrong
"""Finds the period of a folded signal; the remainder has no adjoint by its divisor."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def fold(
    period: wp.array(dtype=float), t: wp.array(dtype=float), y: wp.array(dtype=float), loss: wp.array(dtype=float)
):
    i = wp.tid()
    phase = wp.mod(t[i], period[0])  # <- RG206
    d = wp.sin(2.0 * phase) - y[i]
    wp.atomic_add(loss, 0, d * d)


t = wp.array([0.4, 1.7, 2.9, 4.3, 5.6], dtype=float)
y = wp.array([0.9, 0.2, 0.5, -0.4, 0.3], dtype=float)
period = wp.array([1.25], dtype=float, requires_grad=True)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(fold, dim=5, inputs=[period, t, y, loss])
    tape.backward(loss)
    g = period.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "period", period.numpy().tolist(), "grad_period", g.tolist())
    period.assign(period.numpy() - 0.0005 * g)
    tape.zero()
