# expect: right
"""A growing plant whose state is a struct, one of whose fields has no gradient."""

import warp as wp
import warp.optim


@wp.struct
class Plant:
    leaf: wp.array(dtype=float)
    root: wp.array(dtype=float)


@wp.kernel
def grow(day: Plant, share: wp.array(dtype=float), light: float, following: Plant):
    i = wp.tid()
    s = 1.0 / (1.0 + wp.exp(-share[i]))
    gain = light * day.leaf[i] * day.root[i] / (0.5 + day.root[i])
    following.leaf[i] = day.leaf[i] + s * gain
    following.root[i] = day.root[i] + (1.0 - s) * gain


@wp.kernel
def harvest(plant: Plant, loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_sub(loss, 0, plant.leaf[i])


def sprout(leaf, root):
    plant = Plant()
    plant.leaf = wp.array(leaf, dtype=float, requires_grad=True)
    plant.root = wp.array(root, dtype=float, requires_grad=True)
    return plant


def season(share, loss):
    plant = sprout([0.4, 0.6, 0.5], [0.3, 0.2, 0.5])
    for day in range(4):
        older = sprout([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
        wp.launch(grow, dim=3, inputs=[plant, share, 0.3 + 0.1 * day, older])
        plant = older
    wp.launch(harvest, dim=3, inputs=[plant, loss])


with wp.ScopedDevice("cpu"):
    share = wp.array([0.2, -0.4, 0.1], dtype=float, requires_grad=True)
    optimizer = warp.optim.Adam([share], lr=0.1)
    for it in range(4):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            season(share, loss)
        tape.backward(loss)
        print(
            "iter",
            it,
            "loss",
            float(loss.numpy()[0]),
            "share",
            share.numpy().tolist(),
            "grad_share",
            share.grad.numpy().tolist(),
        )
        optimizer.step([share.grad])
        tape.zero()
