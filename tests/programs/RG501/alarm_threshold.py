# expect: right, remark RG501
"""Alarms counted over a threshold; the threshold is to be learned from the count."""

import numpy as np
import warp as wp


@wp.kernel
def count(level: wp.array(dtype=wp.float64), threshold: wp.array(dtype=wp.float64), alarms: wp.array(dtype=wp.float64)):
    i = wp.tid()
    alarm = wp.where(level[i] > threshold[0] * threshold[0], wp.float64(1.0), wp.float64(0.0))
    wp.atomic_add(alarms, 0, alarm)


@wp.kernel
def misfit(alarms: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    d = alarms[0] - wp.float64(3.0)
    loss[0] = d * d


def main():
    level = wp.array(np.random.default_rng(2).uniform(0.0, 1.0, 12), dtype=wp.float64)
    threshold = wp.array([0.6], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        alarms = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(count, dim=12, inputs=[level, threshold, alarms])
            wp.launch(misfit, dim=1, inputs=[alarms, loss])
        tape.backward(loss)
        g = threshold.grad.numpy().copy()
        now = threshold.numpy().tolist()
        print("iter", it, "loss", loss.numpy()[0], "threshold", now, "grad_threshold", g.tolist())
        threshold.assign(threshold.numpy() - 0.01 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
