# expect: right, remark RG506
"""Spheres that just touch in the first iteration: the contact force has a kink there."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def press(gap: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    depth = wp.max(gap[i] - wp.float64(0.5), wp.float64(0.0))
    wp.atomic_add(loss, 0, depth + wp.float64(0.3) * gap[i] * gap[i])


gap = wp.array([0.9, 0.5, 0.2], dtype=wp.float64, requires_grad=True)
for it in range(3):
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(press, dim=3, inputs=[gap, loss])
    tape.backward(loss)
    g = gap.grad.numpy().copy()
    print("iter", it, "loss", loss.numpy().item(), "gap", gap.numpy().tolist(), "grad_gap", g.tolist())
    gap.assign(gap.numpy() - 0.1 * g)
    tape.zero()
