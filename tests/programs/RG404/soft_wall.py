# expect: wrong
"""Particles before a soft wall; the wall's force has an adjoint of its own, which is that of an older force."""

import warp as wp

wp.set_device("cpu")


@wp.func
def wall(gap: float, stiffness: float):
    if gap > 0.0:
        return stiffness * gap * gap * gap
    return stiffness * gap * gap


@wp.func_grad(wall)
def adj_wall(gap: float, stiffness: float, adj_ret: float):  # <- RG404
    if gap > 0.0:
        wp.adjoint[gap] += 2.0 * stiffness * gap * adj_ret
        wp.adjoint[stiffness] += gap * gap * gap * adj_ret
    else:
        wp.adjoint[gap] += 2.0 * stiffness * gap * adj_ret
        wp.adjoint[stiffness] += gap * gap * adj_ret


@wp.func
def energy(place: float, position: float, stiffness: float):
    return wall(place - position, stiffness) + 0.1 * wall(position, 2.0 * stiffness)


@wp.kernel
def total(place: wp.array(dtype=float), position: wp.array(dtype=float), stiffness: float, out: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(out, 0, energy(place[0], position[i], stiffness))


place = wp.array([0.6], dtype=float, requires_grad=True)
position = wp.array([0.1, 0.9, -0.4, 0.3], dtype=float)
for it in range(3):
    out = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(total, dim=4, inputs=[place, position, 1.7, out])
    tape.backward(out)
    g = place.grad.numpy().copy()
    print("iter", it, "loss", float(out.numpy()[0]), "place", place.numpy().tolist(), "grad_place", g.tolist())
    place.assign(place.numpy() - 0.01 * g)
    tape.zero()
