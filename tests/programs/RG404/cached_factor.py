# expect: wrong
"""A dose is read from a table that the forward pass fills; the replay reads the neighbour's entry."""

import warp as wp

wp.set_device("cpu")


@wp.func
def look_up(depth: float, cache: wp.array(dtype=float), i: int):
    value = 0.4 + 0.2 * wp.sin(2.0 * float(i))
    cache[i] = value
    return value


@wp.func_replay(look_up)
def replay_look_up(depth: float, cache: wp.array(dtype=float), i: int):  # <- RG404
    return cache[(i + 1) % 4]


@wp.kernel
def dose(depth: wp.array(dtype=float), cache: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    factor = look_up(depth[i], cache, i)
    wp.atomic_add(total, 0, factor * depth[i] * depth[i])


depth = wp.array([0.5, 1.5, 0.8, 1.1], dtype=float, requires_grad=True)
cache = wp.zeros(4, dtype=float)
for it in range(3):
    total = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(dose, dim=4, inputs=[depth, cache, total])
    tape.backward(total)
    g = depth.grad.numpy().copy()
    print("iter", it, "loss", float(total.numpy()[0]), "depth", depth.numpy().tolist(), "grad_depth", g.tolist())
    depth.assign(depth.numpy() - 0.05 * g)
    tape.zero()
