# expect: right, remark RG505
"""Tide gauges far above their datum: what the parameter changes is lost in the sum."""

import numpy as np
import warp as wp

TIDE = 1.0e-3


@wp.struct
class Site:
    wave: wp.vec3
    lag: float


@wp.func
def tide(t: float, site: Site):
    return TIDE * wp.sin(t + site.lag) * site.wave[1]


@wp.kernel
def gauge(p: wp.array(dtype=float), datum: wp.array(dtype=float), site: Site, loss: wp.array(dtype=float)):
    i = wp.tid()
    turn = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), 0.1 * p[1])
    swell = wp.quat_rotate(turn, site.wave)
    wp.atomic_add(loss, 0, datum[i] + tide(p[0] * float(i + 1), site) + 1.0e-4 * swell[0])


def main():
    p = wp.array([0.3, 0.8], dtype=float, requires_grad=True)
    datum = wp.array(np.full(100, 1.0e4), dtype=float)
    site = Site()
    site.wave, site.lag = wp.vec3(0.4, 1.2, 0.3), 0.2
    for it in range(3):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(gauge, dim=100, inputs=[p, datum, site, loss])
        tape.backward(loss)
        level = [datum.numpy()[0].item()]
        told = ["p", p.numpy().tolist(), "datum", level, "grad_p", p.grad.numpy().tolist()]
        print("iter", it, "loss", loss.numpy().item(), *told)
        p.assign(p.numpy() - 0.1 * p.grad.numpy())
        tape.zero()


main()
