# expect: right
"""The parameters are stepped in place, through the view that NumPy has of them."""

import numpy as np
import warp as wp


@wp.kernel
def ring(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    n = x.shape[0]
    d = x[(i + 1) % n] - x[i]
    wp.atomic_add(loss, 0, wp.exp(-d * d) + wp.float64(0.1) * x[i] * x[i])


def main():
    x = wp.array(np.array([0.2, 0.9, -0.4, 0.5]), dtype=wp.float64, requires_grad=True)
    view = x.numpy()
    for it in range(3):
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(ring, dim=4, inputs=[x, loss])
        tape.backward(loss)
        g = x.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "x", view.tolist(), "grad_x", g.tolist())
        view -= 0.1 * g
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
