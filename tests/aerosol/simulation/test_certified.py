"""The auditor's verdict on programs that fit an initial state through simulations of every kind."""

from __future__ import annotations

import pytest

PROGRAM = """
import numpy as np
import warp as wp

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.processes import *
from retrograde.aerosol.simulation import Simulation

grid = SizeGrid.from_ratio(1e-24, 1.8, 10)
rng = np.random.default_rng(4)
table = np.full((grid.bins, grid.bins), 1e-15)
losses = (Dilution(1e-3, 1e9 * np.ones(grid.bins)), FirstOrderLoss(1e-3 * np.linspace(0.0, 1.0, grid.bins)))
simulation = Simulation(grid, {processes}, times=[0.0, 50.0, 150.0], substeps=3, method=Method("{method}"))
logarithm = wp.array(np.log(rng.uniform(0.2e11, 1e11, (2, grid.bins))), dtype=wp.float64, requires_grad=True)
seen = simulation.run(SectionalState.from_numpy(rng.uniform(0.2e11, 1e11, (2, grid.bins)), grid))


@wp.kernel
def exponentiate(logarithm: wp.array2d[wp.float64], number: wp.array2d[wp.float64]):
    b, i = wp.tid()
    number[b, i] = wp.exp(logarithm[b, i])


@wp.kernel
def compare(number: wp.array2d[wp.float64], target: wp.array2d[wp.float64], total: wp.array[wp.float64]):
    b, i = wp.tid()
    d = (number[b, i] - target[b, i]) / wp.float64(1e11)
    wp.atomic_add(total, 0, d * d)


@wp.kernel
def descend(logarithm: wp.array2d[wp.float64], gradient: wp.array2d[wp.float64]):
    b, i = wp.tid()
    logarithm[b, i] = logarithm[b, i] - wp.float64(1.0e-2) * gradient[b, i]


for _ in range(2):
    tape = wp.Tape()
    with tape:
        number = wp.zeros(logarithm.shape, dtype=wp.float64, requires_grad=True)
        total = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        wp.launch(exponentiate, logarithm.shape, inputs=[logarithm], outputs=[number])
        trajectory = simulation.run(SectionalState(number, grid), through_tape={through_tape})
        for index in (1, 2):
            target = seen.state(index).number
            wp.launch(compare, target.shape, inputs=[trajectory.state(index).number, target], outputs=[total])
    tape.backward(loss=total)
    wp.launch(descend, logarithm.shape, inputs=[logarithm, logarithm.grad])
    tape.zero()
    print("loss", total.numpy()[0])
"""
FIXED, CELLS = "(CoagulationFixedPivot(table), *losses)", "(CoagulationCellAverage(table), *losses)"
BY_BOX = "(CoagulationFixedPivot(np.stack([table, 2 * table])), *losses)"


def program(processes: str, method: str, through_tape: bool) -> str:
    filled = PROGRAM.replace("{processes}", processes).replace("{method}", method)
    return filled.replace("{through_tape}", str(through_tape))


@pytest.mark.programs
@pytest.mark.parametrize("processes", [FIXED, CELLS, "losses"])
def test_auditor_finds_gradients_through_the_tape_right(auditor, processes):
    document = auditor.audit(program(processes, "heun", True))
    assert document["verdict"] == "right", document


@pytest.mark.programs
@pytest.mark.parametrize(
    ("processes", "method"), [(FIXED, "heun"), (BY_BOX, "heun"), (CELLS, "heun"), (FIXED, "semi-implicit")]
)
def test_auditor_finds_hand_written_gradients_right(auditor, processes, method):
    document = auditor.audit(program(processes, method, False))
    assert document["verdict"] == "right", document
