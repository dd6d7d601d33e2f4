# expect: wrong
"""Droplets that leave a nozzle are packed into the buffers of their size class."""

import numpy as np
import warp as wp


@wp.kernel
def pack(
    speed: wp.array(dtype=wp.float64),
    size: wp.array(dtype=int),
    filled: wp.array(dtype=int),
    packed: wp.array2d(dtype=wp.float64),
):
    i = wp.tid()
    slot = wp.atomic_add(filled, size[i], 1)  # <- RG406
    packed[size[i], slot] = speed[i] * speed[i] * wp.float64(0.5)


@wp.kernel
def land(packed: wp.array2d(dtype=wp.float64), area: wp.array2d(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    k, slot = wp.tid()
    hit = wp.sin(packed[k, slot]) * area[k, slot]
    wp.atomic_add(loss, 0, hit * hit)


def main():
    speed = wp.array([1.0, 0.4, 1.3, 0.8, 0.6], dtype=wp.float64, requires_grad=True)
    size = wp.array([0, 1, 0, 0, 1], dtype=int)
    area = wp.array(np.array([[1.0, 0.4, 0.8], [0.5, 1.2, 0.3]]), dtype=wp.float64)
    for it in range(3):
        filled = wp.zeros(2, dtype=int)
        packed = wp.zeros((2, 3), dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(pack, dim=5, inputs=[speed, size, filled, packed])
            wp.launch(land, dim=(2, 3), inputs=[packed, area, loss])
        tape.backward(loss)
        g = speed.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "speed", speed.numpy().tolist(), "grad_speed", g.tolist())
        speed.assign(speed.numpy() - 0.05 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
