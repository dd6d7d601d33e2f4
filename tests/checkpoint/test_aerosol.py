"""An aerosol's coagulation through a long horizon: Warp's adjoint of few kept states against the hand-written one."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.processes import CoagulationFixedPivot
from retrograde.aerosol.simulation import Simulation
from retrograde.checkpoint import advance

STEPS, STEP = 60, 30.0


@wp.kernel
def weigh(number: wp.array2d(dtype=wp.float64), weights: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    b, i = wp.tid()
    wp.atomic_add(loss, 0, number[b, i] * weights[i])


def test_the_gradient_of_an_afternoon_is_that_of_the_hand_written_adjoint() -> None:
    grid = SizeGrid.geometric(10e-9, 500e-9, bins_per_decade=6)
    table = np.full((grid.bins, grid.bins), 1e-15)
    first = 1e11 * np.exp(-0.5 * (np.log(grid.diameters / 40e-9) / np.log(1.6)) ** 2)[np.newaxis]
    weights = np.linspace(1.0, 2.0, grid.bins) * 1e-11
    processes = (CoagulationFixedPivot(table),)

    start = wp.array(first, dtype=wp.float64, requires_grad=True)
    factors = wp.array(weights, dtype=wp.float64)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    one = Simulation(grid, processes, np.array([0.0, STEP]))

    def step(n: int, before: Any, after: Any) -> None:
        wp.copy(after, one.run(SectionalState(before, grid), through_tape=True).final.number)

    with wp.Tape() as tape:
        end = advance(step, start, STEPS)
        wp.launch(weigh, first.shape, inputs=[end.state, factors, loss])
    tape.backward(loss)
    assert end.report.peak_states < STEPS

    whole = Simulation(grid, processes, STEP * np.arange(STEPS + 1))
    run = whole.run(SectionalState.from_numpy(first, grid))
    np.testing.assert_allclose(end.state.numpy(), run.final.numpy(), rtol=1e-12)
    expected = whole.pullback(run, {STEPS: weights[np.newaxis]}).numpy()
    np.testing.assert_allclose(start.grad.numpy(), expected, rtol=1e-10)
