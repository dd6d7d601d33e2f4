# expect: right, remark RG506
"""The worst of several losses is minimised, and two of them are equally bad."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def losses(p: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = p[i] - wp.float64(1.0)
    out[i] = d * d + wp.float64(0.1) * p[0] * p[1]


@wp.func
def worse(a: wp.float64, b: wp.float64):
    if a >= b:
        return a
    return b


@wp.kernel
def worst(out: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    loss[0] = worse(out[0], worse(out[1], out[2]))


p = wp.array([0.25, 1.75, 0.5], dtype=wp.float64, requires_grad=True)
for it in range(3):
    out = wp.zeros(3, dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(losses, dim=3, inputs=[p], outputs=[out])
        wp.launch(worst, dim=1, inputs=[out], outputs=[loss])
    tape.backward(loss)
    g = p.grad.numpy().copy()
    print("iter", it, "loss", loss.numpy().item(), "p", p.numpy().tolist(), "grad_p", g.tolist())
    p.assign(p.numpy() - 0.05 * g)
    tape.zero()
