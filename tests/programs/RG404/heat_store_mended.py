# expect: right, remark RG505
"""Heat that a wall takes up above a large store of it, whose rounding hides what single launches do."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.func
def uptake(gap: float, area: float):
    return gap * area * area + 0.5 * wp.sin(gap)


@wp.func_grad(uptake)
def adj_uptake(gap: float, area: float, adj_ret: float):
    wp.adjoint[gap] += (area * area + 0.5 * wp.cos(gap)) * adj_ret
    wp.adjoint[area] += 2.0 * gap * area * adj_ret


@wp.kernel
def store(gap: wp.array(dtype=float), heat: wp.array(dtype=float)):
    i = wp.tid()
    heat[i] = 200000.0 + uptake(gap[i], 0.7)


@wp.kernel
def total(heat: wp.array(dtype=float), cost: wp.array(dtype=float)):
    wp.atomic_add(cost, 0, heat[wp.tid()])


gap = wp.array(np.array([0.3, 0.8, 0.5], dtype=np.float32), dtype=float, requires_grad=True)
for it in range(2):
    heat = wp.zeros(3, dtype=float, requires_grad=True)
    cost = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(store, dim=3, inputs=[gap, heat])
        wp.launch(total, dim=3, inputs=[heat, cost])
    tape.backward(cost)
    g = gap.grad.numpy().copy()
    print("iter", it, "loss", float(cost.numpy()[0]), "gap", gap.numpy().tolist(), "grad_gap", g.tolist())
    gap.assign(gap.numpy() - 0.01 * g)
    tape.zero()
