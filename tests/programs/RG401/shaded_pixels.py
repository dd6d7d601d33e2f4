# expect: wrong
"""Pixels are lit, and then shaded where they lie, in one kernel."""

import numpy as np
import warp as wp


@wp.func
def light(normal: wp.float64, lamp: wp.float64):
    return wp.exp(-normal * normal) * lamp


@wp.kernel
def render(
    normal: wp.array2d(dtype=wp.float64),
    lamp: wp.array(dtype=wp.float64),
    shade: wp.array2d(dtype=wp.float64),
    image: wp.array2d(dtype=wp.float64),
):
    i, j = wp.tid()
    image[i, j] = light(normal[i, j], lamp[0]) + lamp[1]
    if shade[i, j] > wp.float64(0.4):
        image[i, j] *= wp.float64(1.0) - shade[i, j] * lamp[1]  # <- RG401


@wp.kernel
def compare(image: wp.array2d(dtype=wp.float64), photo: wp.array2d(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i, j = wp.tid()
    d = image[i, j] - photo[i, j]
    wp.atomic_add(loss, 0, d * d)


def main():
    rng = np.random.default_rng(4)
    normal, shade, photo = (wp.array(rng.uniform(0.1, 0.9, (3, 4)), dtype=wp.float64) for _ in range(3))
    lamp = wp.array([0.9, 0.3], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        image = wp.zeros((3, 4), dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(render, dim=(3, 4), inputs=[normal, lamp, shade], outputs=[image])
            wp.launch(compare, dim=(3, 4), inputs=[image, photo], outputs=[loss])
        tape.backward(loss)
        g = lamp.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "lamp", lamp.numpy().tolist(), "grad_lamp", g.tolist())
        lamp.assign(lamp.numpy() - 0.02 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
