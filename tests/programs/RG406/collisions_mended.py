# expect: right
"""Pairs that touch are listed in the order in which they are found, and their energies are summed."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.func
def next_place(counter: wp.array(dtype=int), places: wp.array(dtype=int), i: int):
    place = wp.atomic_add(counter, 0, 1)
    places[i] = place
    return place


@wp.func_replay(next_place)
def same_place(counter: wp.array(dtype=int), places: wp.array(dtype=int), i: int):
    return places[i]


@wp.kernel
def find(
    radius: wp.array(dtype=float),
    gap: wp.array(dtype=float),
    counter: wp.array(dtype=int),
    places: wp.array(dtype=int),
    found: wp.array(dtype=float),
):
    i = wp.tid()
    depth = radius[i % 2] - gap[i]
    if depth > 0.0:
        place = next_place(counter, places, i)
        found[place] = depth * depth * (1.0 + radius[i % 2])


@wp.kernel
def add(found: wp.array(dtype=float), weight: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, weight[i] * found[i])


radius = wp.array([0.5, 0.7], dtype=float, requires_grad=True)
gap = wp.array([0.3, 0.9, 0.8, 0.2, 0.1, 0.4], dtype=float)
weight = wp.array([1.0, 0.5, 2.0, 0.3, 1.5, 1.0], dtype=float)
for it in range(3):
    counter = wp.zeros(1, dtype=int)
    places = wp.zeros(6, dtype=int)
    found = wp.zeros(12, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(find, dim=6, inputs=[radius, gap, counter, places, found])
        wp.launch(add, dim=6, inputs=[found, weight, loss])
    tape.backward(loss)
    g = radius.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "radius", radius.numpy().tolist(), "grad_radius", g.tolist())
    radius.assign(radius.numpy() - np.float32(0.005) * g)
    tape.zero()
