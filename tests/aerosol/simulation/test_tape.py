"""Simulations on Warp's tape, and captured in a graph."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot, FirstOrderLoss
from retrograde.aerosol.simulation import PositivityError, Simulation, Trajectory
from retrograde.aerosol.states import SectionalState

GRID = SizeGrid.from_ratio(1e-24, 1.6, 20)
PROCESSES = (CoagulationFixedPivot(np.full((20, 20), 1e-15)), FirstOrderLoss(np.linspace(1e-3, 0.0, 20)))
TIMES = np.array([0.0, 50.0, 80.0, 200.0])
NUMBER = 1e11 * np.random.default_rng(8).uniform(0.1, 1.0, (5, 20))


@wp.kernel(module="unique")
def add_squares(number: wp.array2d(dtype=wp.float64), scale: wp.float64, loss: wp.array(dtype=wp.float64)):
    b, i = wp.tid()
    wp.atomic_add(loss, 0, scale * number[b, i] * number[b, i])


def simulation() -> Simulation:
    return Simulation(GRID, PROCESSES, TIMES, substeps=6)


def squares(trajectory: Trajectory, loss: wp.array) -> None:
    for index, scale in ((1, 1e-20), (3, 3e-20)):
        number = trajectory.state(index).number
        wp.launch(add_squares, dim=number.shape, inputs=[number, wp.float64(scale)], outputs=[loss])


def taped_gradient(through_tape: bool) -> np.ndarray:
    state = SectionalState.from_numpy(NUMBER, GRID, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        squares(simulation().run(state, through_tape=through_tape), loss)
    tape.backward(loss)
    return state.number.grad.numpy().copy()


def test_a_loss_on_a_tape_reaches_the_initial_state() -> None:
    """From launches on views of two times, by the hand-written adjoint and by Warp's."""
    gradient = taped_gradient(through_tape=False)
    run = simulation()
    trajectory = run.run(SectionalState.from_numpy(NUMBER, GRID))
    numbers = trajectory.numpy()
    direct = run.pullback(trajectory, {1: 2e-20 * numbers[1], 3: 6e-20 * numbers[3]}).numpy()
    assert_allclose(gradient, direct, rtol=1e-14)
    assert_allclose(gradient, taped_gradient(through_tape=True), rtol=1e-12)


def test_the_positivity_limit_holds_through_the_tape_too() -> None:
    state = SectionalState.from_numpy(NUMBER, GRID)
    long = Simulation(GRID, PROCESSES, np.array([0.0, 1e5]), substeps=1)
    with pytest.raises(PositivityError):
        long.run(state, through_tape=True)
    with pytest.raises(ValueError, match="substeps: expected a number"):
        Simulation(GRID, PROCESSES, TIMES, substeps=None).run(state, through_tape=True)


def test_two_runs_on_one_tape_add_up() -> None:
    state = SectionalState.from_numpy(NUMBER, GRID, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        for _ in range(2):
            squares(simulation().run(state), loss)
    tape.backward(loss)
    assert_allclose(state.number.grad.numpy(), 2.0 * taped_gradient(through_tape=False), rtol=1e-14)


def test_simulations_chain_on_a_tape() -> None:
    """The end of one run is the start of the next: gradients pass through both."""
    state = SectionalState.from_numpy(NUMBER, GRID, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        first = Simulation(GRID, PROCESSES, TIMES[:3], substeps=6).run(state)
        final = Simulation(GRID, PROCESSES, TIMES[2:], substeps=6).run(first.final)
        for trajectory, index, scale in ((first, 1, 1e-20), (final, 1, 3e-20)):
            number = trajectory.state(index).number
            wp.launch(add_squares, dim=number.shape, inputs=[number, wp.float64(scale)], outputs=[loss])
    tape.backward(loss)
    assert_allclose(state.number.grad.numpy(), taped_gradient(through_tape=False), rtol=1e-13)


def test_zeroing_the_tape_makes_backward_repeatable() -> None:
    state = SectionalState.from_numpy(NUMBER, GRID, requires_grad=True)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        squares(simulation().run(state), loss)
    tape.backward(loss)
    once = state.number.grad.numpy().copy()
    tape.zero()
    assert not state.number.grad.numpy().any()
    tape.backward(loss)
    assert_allclose(state.number.grad.numpy(), once, rtol=1e-15)


def test_without_a_tape_nothing_is_recorded_and_nothing_needs_one() -> None:
    state = SectionalState.from_numpy(NUMBER, GRID)
    with wp.Tape() as tape:
        simulation().run(state)
    assert tape.launches == []


def test_an_integration_run_again_refuses_the_gradient_of_its_earlier_run() -> None:
    state = SectionalState.from_numpy(NUMBER, GRID, requires_grad=True)
    integration = simulation().prepare(5)
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        integration.run(state.number)
        wp.launch(add_squares, dim=(5, 20), inputs=[integration.number[3], wp.float64(1.0)], outputs=[loss])
    integration.forward(state.number)
    with pytest.raises(RuntimeError, match="run again since this run was recorded"):
        tape.backward(loss)


def test_prepared_runs_can_be_captured_in_a_graph() -> None:
    """Capture runs nothing; every replay steps from what the input then holds, and pulls back."""
    integration = simulation().prepare(5, device="cpu")
    number = wp.zeros((5, 20), dtype=wp.float64, device="cpu")
    gradient = wp.zeros((5, 20), dtype=wp.float64, device="cpu")
    integration.number.grad.fill_(1.0)
    integration.forward(number)
    integration.backward(gradient)
    with wp.ScopedCapture(device="cpu") as capture:
        gradient.zero_()
        integration.forward(number)
        integration.backward(gradient)
    for scale in (1.0, 0.3):
        number.assign(scale * NUMBER)
        wp.capture_launch(capture.graph)
        run = simulation()
        trajectory = run.run(SectionalState.from_numpy(scale * NUMBER, GRID))
        assert_allclose(integration.number.numpy(), trajectory.numpy(), rtol=0.0)
        expected = run.pullback(trajectory, dict.fromkeys(range(4), np.ones((5, 20))))
        assert_allclose(gradient.numpy(), expected.numpy(), rtol=1e-15)


def test_prepared_runs_allocate_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    integration = simulation().prepare(5, device="cpu")
    number = wp.array(NUMBER, dtype=wp.float64, device="cpu")
    gradient = wp.zeros((5, 20), dtype=wp.float64, device="cpu")
    integration.forward(number)
    integration.backward(gradient)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("an array was made")

    monkeypatch.setattr(wp.array, "__init__", refuse)
    integration.forward(number)
    integration.backward(gradient)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [False, True])
def test_warps_own_tracker_of_overwrites_stays_silent(spoil: bool) -> None:
    """And it speaks up, in the same program, once an input is overwritten behind the simulation.

    It also speaks when it compiles the kernels of the hand-written adjoint, whose backward is
    disabled and whose scratch memory is meant to be reused; of the kernels that Warp does
    differentiate it must say nothing.
    """
    program = Path(__file__).with_name("tracked_program.py")
    source = Path(__file__).parents[3] / "src"
    done = subprocess.run(
        [sys.executable, str(program), *(["spoil"] if spoil else [])],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert ("read from in a previous launch" in said) == spoil, said
    assert "_plain_kernels.py" not in said


def test_cell_average_agrees_on_both_paths_too() -> None:
    processes = (CoagulationCellAverage(np.full((20, 20), 1e-15)),)
    gradients = []
    for through_tape in (False, True):
        state = SectionalState.from_numpy(NUMBER, GRID, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            squares(Simulation(GRID, processes, TIMES, substeps=6).run(state, through_tape=through_tape), loss)
        tape.backward(loss)
        gradients.append(state.number.grad.numpy())
    assert_allclose(gradients[0], gradients[1], rtol=1e-12)
