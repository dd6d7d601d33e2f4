# expect: right
"""Widths of spectral lines, with the profile's own adjoint."""

import numpy as np
import warp as wp


@wp.struct
class Line:
    centre: wp.float64
    height: wp.float64


@wp.func
def lorentz(offset: wp.float64, width: wp.float64):
    return width * width / (offset * offset + width * width)


@wp.func_grad(lorentz)
def adj_lorentz(offset: wp.float64, width: wp.float64, adj_ret: wp.float64):
    below = offset * offset + width * width
    wp.adjoint[offset] += -wp.float64(2.0) * offset * width * width / (below * below) * adj_ret
    wp.adjoint[width] += wp.float64(2.0) * width * offset * offset / (below * below) * adj_ret


@wp.kernel
def spectrum(
    lines: wp.array(dtype=Line),
    width: wp.array(dtype=wp.float64),
    frequency: wp.array(dtype=wp.float64),
    seen: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    light = wp.float64(0.0)
    for k in range(2):
        light += lines[k].height * lorentz(frequency[i] - lines[k].centre, width[k])
    seen[i] = light


@wp.kernel
def misfit(seen: wp.array(dtype=wp.float64), wanted: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (seen[i] - wanted[i]) * (seen[i] - wanted[i]))


def main():
    lines = wp.array(np.array([(0.3, 1.0), (0.8, 0.6)], dtype=Line.numpy_dtype()), dtype=Line)
    width = wp.array([0.15, 0.25], dtype=wp.float64, requires_grad=True)
    frequency = wp.array(np.linspace(0.0, 1.0, 9), dtype=wp.float64)
    wanted = wp.array([0.1, 0.3, 0.7, 0.8, 0.5, 0.5, 0.6, 0.4, 0.2], dtype=wp.float64)
    for it in range(3):
        seen = wp.zeros(9, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(spectrum, dim=9, inputs=[lines, width, frequency], outputs=[seen])
            wp.launch(misfit, dim=9, inputs=[seen, wanted], outputs=[loss])
        tape.backward(loss)
        g = width.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "width", width.numpy().tolist(), "grad_width", g.tolist())
        width.assign(width.numpy() - 0.005 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
