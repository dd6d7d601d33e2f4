# expect: wrong
"""Fits the strength of the light on a field of reflecting tiles, kept in half precision like the picture of them."""

import numpy as np
import warp as wp

TILES = 16384


@wp.kernel
def shade(
    strength: wp.array(dtype=wp.float16), albedo: wp.array(dtype=wp.float16), picture: wp.array(dtype=wp.float16)
):
    i = wp.tid()
    picture[i] = strength[0] * albedo[i]  # <- RG512


@wp.kernel
def misfit(picture: wp.array(dtype=wp.float16), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = float(picture[i]) - 0.002
    wp.atomic_add(loss, 0, 100.0 * d * d)


def main():
    strength = wp.array([0.5], dtype=wp.float16, requires_grad=True)
    shades = 0.004 + 0.004 * np.arange(TILES) / TILES
    albedo = wp.array(shades.astype(np.float16), dtype=wp.float16)
    picture = wp.zeros(TILES, dtype=wp.float16, requires_grad=True)
    for it in range(3):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(shade, dim=TILES, inputs=[strength, albedo, picture])
            wp.launch(misfit, dim=TILES, inputs=[picture, loss])
        tape.backward(loss)
        g = strength.grad.numpy().astype(float)
        print("iter", it, "loss", loss.numpy()[0], "strength", strength.numpy().tolist(), "grad_strength", g.tolist())
        strength.assign((strength.numpy().astype(float) - 0.002 * g).astype(np.float16))
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
