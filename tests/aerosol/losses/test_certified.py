"""The auditor's verdict on programs that fit a distribution by each loss, in the logarithm of the numbers."""

import pytest

PROGRAM = """
import numpy as np
import warp as wp

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.losses import *

grid = SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=6)
rng = np.random.default_rng(4)
seen = SectionalState.from_numpy(rng.lognormal(size=(2, grid.bins)), grid)
response = np.abs(rng.normal(size=(5, grid.bins)))
counts = rng.poisson(5.0, size=(2, 5)).astype(float)
loss = {loss}
logarithm = wp.array(rng.normal(size=(2, grid.bins)), dtype=wp.float64, requires_grad=True)


@wp.kernel
def exponentiate(logarithm: wp.array2d[wp.float64], number: wp.array2d[wp.float64]):
    b, i = wp.tid()
    number[b, i] = wp.exp(logarithm[b, i])


@wp.kernel
def add_up(values: wp.array[wp.float64], total: wp.array[wp.float64]):
    b = wp.tid()
    wp.atomic_add(total, 0, values[b])


@wp.kernel
def descend(logarithm: wp.array2d[wp.float64], gradient: wp.array2d[wp.float64]):
    b, i = wp.tid()
    logarithm[b, i] = logarithm[b, i] - wp.float64(1.0e-3) * gradient[b, i]


for _ in range(2):
    tape = wp.Tape()
    with tape:
        number = wp.zeros(logarithm.shape, dtype=wp.float64, requires_grad=True)
        total = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        wp.launch(exponentiate, logarithm.shape, inputs=[logarithm], outputs=[number])
        values = loss(SectionalState(number, grid))
        wp.launch(add_up, 2, inputs=[values], outputs=[total])
    tape.backward(loss=total)
    wp.launch(descend, logarithm.shape, inputs=[logarithm, logarithm.grad])
    tape.zero()
    print("loss", total.numpy()[0])
"""
LOSSES = [
    "MomentLoss.number(grid, [9.0, 30.0], 5.0)",
    "MomentLoss.volume(grid, [1e-19, 2e-19], 1e-19)",
    "L2Loss(seen, 3.0)",
    "CramerLoss(seen)",
    "CramerLoss(seen, 3.0)",
    "Wasserstein1Loss(seen)",
    "Wasserstein2Loss(seen)",
    "PoissonLoss(grid, counts, response)",
]


@pytest.mark.programs
@pytest.mark.parametrize("loss", LOSSES)
def test_auditor_finds_the_gradient_right(auditor, loss):
    document = auditor.audit(PROGRAM.replace("{loss}", loss))
    assert document["verdict"] == "right", document
