"""The auditor's verdict on programs that fit an initial state, resolved by composition, to losses on the final one."""

import pytest

PROGRAM = """
import numpy as np
import warp as wp

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.composition import *
from retrograde.aerosol.losses import *
from retrograde.aerosol.processes import *

salt, soot = Species("salt", 2000.0, 1.1, 0.058), Species("soot", 1800.0, 0.0, 0.2)
grid = CompositionGrid(SizeGrid.geometric(5e-8, 3e-7, bins_per_decade=5), (soot, salt), 3)
rng = np.random.default_rng(4)
shape = (2, grid.bins + 1, grid.fractions)
coagulation = CoagulationFixedPivot(np.full((grid.bins, grid.bins), 1e-15))
vapour = Vapour("salt", 0.058, 1e-5, saturation=1e-9)
condensation = Condensation((vapour,), Environment.uniform(1), substeps=2)
simulation = CompositionSimulation(grid, {processes})
gas = {gas}
seen = simulation.run(CompositionState.from_numpy(rng.uniform(0.2e11, 1e11, shape), grid), gas).final
loss = {loss}
logarithm = wp.array(np.log(rng.uniform(0.2e11, 1e11, shape)), dtype=wp.float64, requires_grad=True)


@wp.kernel
def exponentiate(logarithm: wp.array3d[wp.float64], number: wp.array3d[wp.float64]):
    b, i, c = wp.tid()
    number[b, i, c] = wp.exp(logarithm[b, i, c])


@wp.kernel
def add_up(values: wp.array[wp.float64], total: wp.array[wp.float64]):
    b = wp.tid()
    wp.atomic_add(total, 0, values[b])


@wp.kernel
def descend(logarithm: wp.array3d[wp.float64], gradient: wp.array3d[wp.float64]):
    b, i, c = wp.tid()
    logarithm[b, i, c] = logarithm[b, i, c] - wp.float64(1.0e-2) * gradient[b, i, c]


for _ in range(1):
    tape = wp.Tape()
    with tape:
        number = wp.zeros(shape, dtype=wp.float64, requires_grad=True)
        total = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        wp.launch(exponentiate, shape, inputs=[logarithm], outputs=[number])
        final = simulation.run(CompositionState(number, grid), gas).final
        values = loss(final)
        wp.launch(add_up, 2, inputs=[values], outputs=[total])
    tape.backward(loss=total)
    wp.launch(descend, shape, inputs=[logarithm, logarithm.grad])
    tape.zero()
    print("loss", total.numpy()[0])
"""
COAGULATION = "(coagulation, Dilution(1e-3)), [0.0, 50.0, 150.0], substeps=3"
EVERYTHING = "(coagulation, Dilution(1e-3)), [0.0, 50.0], condensation, substeps=2"
CHI = "MixingStateLoss(grid, 0.9)"
SLICED = "SizeKappaLoss(seen, LineDistance.WASSERSTEIN1, slices=3)"


@pytest.mark.programs
@pytest.mark.parametrize(
    ("processes", "loss"),
    [(COAGULATION, CHI), (EVERYTHING, SLICED)],
    ids=["coagulation, chi", "everything, size and kappa"],
)
def test_auditor_finds_the_gradient_right(auditor, processes, loss):
    gas = "[5e-9]" if processes == EVERYTHING else "None"
    document = auditor.audit(PROGRAM.replace("{processes}", processes).replace("{loss}", loss).replace("{gas}", gas))
    assert document["verdict"] == "right", document
