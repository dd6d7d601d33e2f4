# expect: right
"""Steers beams; their total power and its running sum are kernels of their own."""

import numpy as np
import warp as wp


@wp.kernel
def emit(drive: wp.array(dtype=wp.float64), beam: wp.array(dtype=wp.float64)):
    i = wp.tid()
    beam[i] = drive[i] + wp.float64(0.3) * drive[i] * drive[i]


@wp.kernel
def total(beam: wp.array(dtype=wp.float64), power: wp.array(dtype=wp.float64), running: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(power, 0, beam[i] * beam[i])
    for j in range(4):
        if j <= i:
            running[i] += beam[j]


@wp.kernel
def penalise(
    beam: wp.array(dtype=wp.float64),
    power: wp.array(dtype=wp.float64),
    running: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    share = beam[i] / (wp.float64(1.0) + power[0])
    d = share - wp.float64(0.2)
    wp.atomic_add(loss, 0, d * d + wp.float64(0.05) * running[i] * running[i])


def main():
    drive = wp.array([0.4, 0.9, -0.3, 0.6], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        beam, running = (wp.zeros(4, dtype=wp.float64, requires_grad=True) for _ in range(2))
        power, loss = (wp.zeros(1, dtype=wp.float64, requires_grad=True) for _ in range(2))
        tape = wp.Tape()
        with tape:
            wp.launch(emit, dim=4, inputs=[drive, beam])
            wp.launch(total, dim=4, inputs=[beam, power, running])
            wp.launch(penalise, dim=4, inputs=[beam, power, running, loss])
        tape.backward(loss)
        g = drive.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "drive", drive.numpy().tolist(), "grad_drive", g.tolist())
        drive.assign(drive.numpy() - 0.2 * np.asarray(g))
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
