# expect: right
"""A recorded launch prepares the input before the tape; the gradient's path is launched plainly."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def illuminate(t: wp.array(dtype=float), light: wp.array(dtype=float)):
    i = wp.tid()
    light[i] = 1.0 + 0.5 * wp.sin(t[0] + float(i))


@wp.kernel
def tick(t: wp.array(dtype=float)):
    t[0] = t[0] + 0.7


@wp.kernel
def grow(size: wp.array(dtype=float), light: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.log(1.0 + size[i] * size[i]) * light[i])


t = wp.zeros(1, dtype=float)
light = wp.zeros(3, dtype=float)
size = wp.array([0.5, 0.9, 1.3], dtype=float, requires_grad=True)
prepare = wp.launch(illuminate, dim=3, inputs=[t, light], record_cmd=True)
advance = wp.launch(tick, dim=1, inputs=[t], record_cmd=True)
for it in range(3):
    prepare.launch()
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(grow, dim=3, inputs=[size, light, loss])
    tape.backward(loss)
    advance.launch()
    g = size.grad.numpy()
    shown = light.numpy().tolist()
    print(
        "iter",
        it,
        "loss",
        float(loss.numpy()[0]),
        "size",
        size.numpy().tolist(),
        "grad_size",
        g.tolist(),
        "light",
        shown,
    )
    size.assign(size.numpy() - 0.05 * g)
    tape.zero()
