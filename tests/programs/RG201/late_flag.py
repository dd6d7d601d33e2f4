# expect: wrong
"""A spring network; the flag of an array is set after the struct has taken the array."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.struct
class Web:
    stretch: wp.array(dtype=wp.float64)
    tension: wp.array(dtype=wp.float64)


@wp.kernel
def pull(x: wp.array(dtype=wp.float64), web: Web):
    i = wp.tid()
    web.stretch[i] = wp.sqrt(wp.float64(1.0) + (x[i + 1] - x[i]) * (x[i + 1] - x[i])) - wp.float64(0.8)


@wp.kernel
def respond(web: Web):
    i = wp.tid()
    web.tension[i] = web.stretch[i] + web.stretch[i] * web.stretch[i] * web.stretch[i]


@wp.kernel
def store(web: Web, loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, web.tension[i] * web.tension[i])


x = wp.array(np.array([0.0, 0.7, 0.9, 2.0]), dtype=wp.float64, requires_grad=True)
for it in range(3):
    stretch = wp.zeros(3, dtype=wp.float64)  # <- RG201
    tension = wp.zeros(3, dtype=wp.float64, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    web = Web()
    web.stretch = stretch
    web.tension = tension
    stretch.requires_grad = True  # <- RG201
    tape = wp.Tape()
    with tape:
        wp.launch(pull, dim=3, inputs=[x, web])
        wp.launch(respond, dim=3, inputs=[web])
        wp.launch(store, dim=3, inputs=[web, loss])
    tape.backward(loss)
    g = x.grad.numpy()
    print("iter", it, "loss", loss.numpy()[0], "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.02 * (g + 0.1))
    tape.zero()
