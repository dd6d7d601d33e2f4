# expect: wrong
"""Cars in two lanes give way to the car in front, whose place another thread has already changed."""

import numpy as np
import warp as wp


@wp.kernel
def start(gap: wp.array(dtype=wp.float64), x: wp.array2d(dtype=wp.float64)):
    lane, car = wp.tid()
    x[lane, car] = wp.float64(car) * gap[lane] + wp.sin(gap[lane])


@wp.kernel
def give_way(x: wp.array2d(dtype=wp.float64)):
    lane, car = wp.tid()
    front = x[lane, (car + 1) % 4]
    x[lane, car] = x[lane, car] - wp.float64(0.2) * wp.tanh(front - x[lane, car])  # <- RG411


@wp.kernel
def spread(x: wp.array2d(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    lane, car = wp.tid()
    wp.atomic_add(loss, 0, x[lane, car] * x[lane, car] * wp.float64(car + 1))


def main():
    gap = wp.array([0.6, 0.9], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        x = wp.zeros((2, 4), dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(start, dim=(2, 4), inputs=[gap, x])
            wp.launch(give_way, dim=(2, 4), inputs=[x])
            wp.launch(spread, dim=(2, 4), inputs=[x, loss])
        tape.backward(loss)
        g = gap.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "gap", gap.numpy().tolist(), "grad_gap", g.tolist())
        gap.assign(gap.numpy() - np.array([0.002, 0.002]) * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
