# expect: right
"""A predictor and a corrector write one array."""

import warp as wp

wp.set_device("cpu")
N, STEPS = 4, 3


@wp.kernel
def predict(x: wp.array(dtype=float), rate: wp.array(dtype=float), guess: wp.array(dtype=float)):
    i = wp.tid()
    guess[i] = x[i] + 0.2 * rate[i] * wp.sin(x[i])


@wp.kernel
def correct(x: wp.array(dtype=float), rate: wp.array(dtype=float), guess: wp.array(dtype=float)):
    i = wp.tid()
    guess[i] = x[i] + 0.1 * rate[i] * (wp.sin(x[i]) + 0.8)


@wp.kernel
def finish(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (x[i] - 1.0) * (x[i] - 1.0))


def states():
    return [wp.full(N, 0.3, dtype=float, requires_grad=True) for _ in range(STEPS + 1)]


rate = wp.array([0.5, 1.0, -0.4, 0.9], dtype=float, requires_grad=True)
for it in range(3):
    x = states()
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for k in range(STEPS):
            wp.launch(predict, dim=N, inputs=[x[k], rate], outputs=[x[k + 1]])
            wp.launch(correct, dim=N, inputs=[x[k], rate], outputs=[x[k + 1]])
        wp.launch(finish, dim=N, inputs=[x[STEPS], loss])
    tape.backward(loss)
    g = rate.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "rate", rate.numpy().tolist(), "grad_rate", g.tolist())
    rate.assign(rate.numpy() - 0.2 * g)
    tape.zero()
