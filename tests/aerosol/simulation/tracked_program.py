"""A taped simulation under Warp's tracker of overwrites; with the argument `spoil` it overwrites an input."""

from __future__ import annotations

import sys

import numpy as np
import warp as wp

wp.config.verify_autograd_array_access = True

from retrograde.aerosol import SectionalState, SizeGrid  # noqa: E402
from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot, Dilution  # noqa: E402
from retrograde.aerosol.simulation import Simulation  # noqa: E402

BINS = 12
GRID = SizeGrid.from_ratio(1e-24, 1.6, BINS)


@wp.kernel
def total(number: wp.array2d(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    b, i = wp.tid()
    wp.atomic_add(loss, 0, number[b, i])


@wp.kernel
def square(number: wp.array2d(dtype=wp.float64)):
    b, i = wp.tid()
    number[b, i] = number[b, i] * number[b, i]


for scheme in (CoagulationFixedPivot, CoagulationCellAverage):
    for through_tape in (True, False):
        simulation = Simulation(GRID, (scheme(np.full((BINS, BINS), 1e-15)), Dilution(1e-3)), [0.0, 10.0, 30.0], 2)
        state = SectionalState.from_numpy(np.full((2, BINS), 1e11), GRID, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            trajectory = simulation.run(state, through_tape=through_tape)
            for index in (1, 2):
                wp.launch(total, dim=(2, BINS), inputs=[trajectory.state(index).number], outputs=[loss])
            if sys.argv[1:] == ["spoil"]:
                wp.launch(square, dim=(2, BINS), inputs=[state.number])
        tape.backward(loss)
        assert np.isfinite(state.number.grad.numpy()).all()
