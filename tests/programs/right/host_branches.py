# expect: right
"""The number of substeps follows from what the host reads, and every iteration prints intermediate states."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def substep(x: wp.array(dtype=wp.vec2), k: wp.array(dtype=float), dt: float, out: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    v = x[i][1] - dt * k[i] * wp.sin(x[i][0])
    out[i] = wp.vec2(x[i][0] + dt * v, v)


@wp.kernel
def settle(x: wp.array(dtype=wp.vec2), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.length_sq(x[i]))


k = wp.array([1.0, 2.5], dtype=float, requires_grad=True)
for it in range(3):
    count = 6 if float(k.numpy().max()) > 2.0 else 3
    state = wp.array([[0.8, 0.0], [-1.1, 0.2]], dtype=wp.vec2, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for s in range(count):
            following = wp.zeros(2, dtype=wp.vec2, requires_grad=True)
            wp.launch(substep, dim=2, inputs=[state, k, 0.9 / count, following])
            if s % 2 == 0:
                print("substep", s, "state", following.numpy().round(3).tolist())
            state = following
        wp.launch(settle, dim=2, inputs=[state, loss])
    tape.backward(loss)
    g = k.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "k", k.numpy().tolist(), "grad_k", g.tolist())
    k.assign(k.numpy() - 0.1 * g)
    tape.zero()
