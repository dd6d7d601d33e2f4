# expect: right
"""Cars in two lanes give way one after another, from the last to the first, in one thread a lane."""

import numpy as np
import warp as wp


@wp.kernel
def start(gap: wp.array(dtype=wp.float64), x: wp.array2d(dtype=wp.float64)):
    lane, car = wp.tid()
    x[lane, car] = wp.float64(car) * gap[lane] + wp.sin(gap[lane])


@wp.kernel
def give_way(x: wp.array2d(dtype=wp.float64), after: wp.array2d(dtype=wp.float64)):
    lane = wp.tid()
    first = x[lane, 0] - wp.float64(0.2) * wp.tanh(x[lane, 1] - x[lane, 0])
    after[lane, 0] = first
    for car in range(1, 3):
        after[lane, car] = x[lane, car] - wp.float64(0.2) * wp.tanh(x[lane, car + 1] - x[lane, car])
    after[lane, 3] = x[lane, 3] - wp.float64(0.2) * wp.tanh(first - x[lane, 3])


@wp.kernel
def spread(x: wp.array2d(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    lane, car = wp.tid()
    wp.atomic_add(loss, 0, x[lane, car] * x[lane, car] * wp.float64(car + 1))


def main():
    gap = wp.array([0.6, 0.9], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        x = wp.zeros((2, 4), dtype=wp.float64, requires_grad=True)
        after = wp.zeros((2, 4), dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(start, dim=(2, 4), inputs=[gap, x])
            wp.launch(give_way, dim=2, inputs=[x, after])
            wp.launch(spread, dim=(2, 4), inputs=[after, loss])
        tape.backward(loss)
        g = gap.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "gap", gap.numpy().tolist(), "grad_gap", g.tolist())
        gap.assign(gap.numpy() - np.array([0.002, 0.002]) * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
