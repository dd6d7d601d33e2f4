# expect: wrong
"""The parameters are structs in an array, fitted field by field; their gradients are never cleared."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.struct
class Spot:
    at: wp.vec2
    label: int
    width: float


@wp.struct
class Lamp:
    kind: int
    power: float
    spot: Spot


@wp.kernel
def shine(lamps: wp.array(dtype=Lamp), points: wp.array(dtype=wp.vec2), light: wp.array(dtype=float)):
    i = wp.tid()
    for k in range(3):
        lamp = lamps[k]
        d = points[i] - lamp.spot.at
        light[i] += lamp.power * wp.exp(-wp.dot(d, d) / lamp.spot.width) * float(lamp.kind)


@wp.kernel
def misfit(light: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (light[i] - 0.5) * (light[i] - 0.5))


def make_lamps():
    rng = np.random.default_rng(41)
    lamps = []
    for _ in range(3):
        lamp = Lamp()
        lamp.kind, lamp.power = 2, float(rng.uniform(0.2, 0.8))
        lamp.spot.at, lamp.spot.width = wp.vec2(*rng.uniform(0.0, 1.0, 2)), float(rng.uniform(0.3, 0.9))
        lamp.spot.label = -5
        lamps.append(lamp)
    return wp.array(lamps, dtype=Lamp, requires_grad=True), rng.uniform(0.0, 1.0, (6, 2)).astype(np.float32)


lamps, places = make_lamps()
points = wp.array(places, dtype=wp.vec2)
for it in range(4):
    light = wp.zeros(6, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(shine, dim=6, inputs=[lamps, points, light])
        wp.launch(misfit, dim=6, inputs=[light, loss])
    tape.backward(loss)  # <- RG301
    values, gradients = lamps.numpy().copy(), lamps.grad.numpy().copy()
    line = ["iter", it, "loss", float(loss.numpy()[0])]
    for name, x, g in (
        ("power", values["power"], gradients["power"]),
        ("at", values["spot"]["at"], gradients["spot"]["at"]),
        ("width", values["spot"]["width"], gradients["spot"]["width"]),
    ):
        line += [name, x.ravel().tolist(), "grad_" + name, g.ravel().tolist()]
        x -= 0.02 * g
    print(*line)
    lamps.assign(values)
