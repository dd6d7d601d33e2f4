# expect: right
"""A chaotic map over twelve turns, short enough for differences to follow."""

import warp as wp

wp.set_device("cpu")
TURNS = 12


@wp.kernel
def turn(x: wp.array(dtype=wp.float64), r: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    out[0] = r[0] * x[0] * (wp.float64(1.0) - x[0])


@wp.kernel
def read(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    loss[0] = x[0]


r = wp.array([3.9], dtype=wp.float64, requires_grad=True)
for it in range(3):
    orbit = [wp.zeros(1, dtype=wp.float64, requires_grad=True) for _ in range(TURNS)]
    orbit.insert(0, wp.array([0.31], dtype=wp.float64, requires_grad=True))
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for k in range(TURNS):
            wp.launch(turn, dim=1, inputs=[orbit[k], r, orbit[k + 1]])
        wp.launch(read, dim=1, inputs=[orbit[-1], loss])
    tape.backward(loss)
    g = r.grad.numpy()
    print("iter", it, "loss", float(loss.numpy()[0]), "r", r.numpy().tolist(), "grad_r", g.tolist())
    r.assign(r.numpy() - 1e-5 * g)
    tape.zero()
