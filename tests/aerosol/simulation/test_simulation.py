"""Simulations: time grids, the positivity limit, storage, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes import CoagulationFixedPivot, Dilution, Method
from retrograde.aerosol.simulation import PositivityError, Simulation
from retrograde.aerosol.states import SectionalState

GRID = SizeGrid.from_ratio(1e-24, 2.0**0.5, 30)
KERNEL = np.full((30, 30), 1e-15)
NUMBER = 1e12 * np.exp(-0.5 * ((np.arange(30) - 8.0) / 3.0) ** 2)


def simulation(**options: object) -> Simulation:
    fields: dict[str, object] = {"times": np.array([0.0, 100.0, 400.0]), "substeps": 20, **options}
    return Simulation(GRID, (CoagulationFixedPivot(KERNEL),), **fields)  # type: ignore[arg-type]


def state(number: np.ndarray = NUMBER, **options: object) -> SectionalState:
    return SectionalState.from_numpy(number, GRID, **options)  # type: ignore[arg-type]


def test_the_first_state_is_the_one_given() -> None:
    trajectory = simulation().run(state())
    assert np.array_equal(trajectory.numpy()[0, 0], NUMBER)
    assert np.array_equal(trajectory.state(0).numpy()[0], NUMBER)
    assert np.array_equal(trajectory.final.numpy(), trajectory.numpy()[-1])


def test_times_of_different_lengths_are_steps_of_different_lengths() -> None:
    """Stopping in between and going on is the same as going through."""
    through = simulation().run(state())
    first = Simulation(GRID, (CoagulationFixedPivot(KERNEL),), np.array([0.0, 100.0]), 20).run(state())
    second = Simulation(GRID, (CoagulationFixedPivot(KERNEL),), np.array([100.0, 400.0]), 20).run(first.final)
    assert_allclose(through.numpy()[1], first.numpy()[1], rtol=1e-15)
    assert_allclose(through.numpy()[2], second.numpy()[1], rtol=1e-15)


def test_number_follows_smoluchowski() -> None:
    """dN/dt = -K N^2 / 2 holds on any grid: N = N0 / (1 + K N0 t / 2), up to the order of the step."""
    errors = []
    for substeps in (20, 40, 80):
        number = simulation(substeps=substeps).run(state()).numpy().sum(axis=2)[:, 0]
        exact = NUMBER.sum() / (1.0 + 0.5e-15 * NUMBER.sum() * np.array([0.0, 100.0, 400.0]))
        errors.append(np.abs(number / exact - 1.0)[2])
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(np.abs(orders - 2.0) < 0.1)


def test_steps_past_the_limit_are_refused_with_the_largest_safe_one() -> None:
    with pytest.raises(PositivityError, match=r"largest safe step is .* s, substeps=\d+ or more") as refusal:
        simulation(substeps=1).run(state())
    error = refusal.value
    assert error.step == 300.0
    assert 300.0 / error.substeps <= error.largest_step < 300.0
    accepted = simulation(substeps=error.substeps).run(state())
    assert np.all(accepted.numpy() >= 0.0)
    with pytest.raises(PositivityError):
        simulation(substeps=error.substeps - 1).run(state())


def test_hopeless_steps_are_refused_at_once() -> None:
    """Numbers in another unit ask for more steps than memory holds; the refusal must not try them."""
    with pytest.raises(PositivityError) as refusal:
        simulation(substeps=1).run(state(1e12 * NUMBER))
    assert refusal.value.substeps > 1e12
    assert 300.0 / refusal.value.substeps == pytest.approx(refusal.value.largest_step)


def test_a_limit_that_falls_on_the_way_is_noticed() -> None:
    """Clean air is filled from outside: the start allows any step, the later states do not."""
    filling = (CoagulationFixedPivot(KERNEL), Dilution(1e-3, 100.0 * NUMBER))
    empty = state(np.zeros(30))
    with pytest.raises(PositivityError) as refusal:
        Simulation(GRID, filling, np.array([0.0, 5e4]), 51).run(empty)
    assert Simulation(GRID, filling, np.array([0.0, 5e4]), 51).peak_rate(empty).max() * 5e4 / 51 < 1.0
    accepted = Simulation(GRID, filling, np.array([0.0, 5e4]), refusal.value.substeps).run(empty)
    assert np.all(accepted.numpy() >= 0.0)


def test_substeps_are_chosen_on_request() -> None:
    chosen = simulation(substeps=None).run(state())
    assert chosen.peak_rate.max() * 300.0 / chosen.substeps <= 1.0
    assert np.all(chosen.numpy() >= 0.0)
    with pytest.raises(PositivityError):
        simulation(substeps=chosen.substeps // 2).run(state())


def test_semi_implicit_steps_are_never_refused() -> None:
    trajectory = simulation(substeps=1, method=Method.SEMI_IMPLICIT).run(state())
    assert np.all(trajectory.numpy() >= 0.0)
    volume = trajectory.numpy()[:, 0] @ GRID.volumes + trajectory.escaped_volume.numpy()[:, 0]
    assert_allclose(volume, NUMBER @ GRID.volumes, rtol=1e-13)


def test_storing_less_changes_neither_states_nor_gradients() -> None:
    cotangents = {1: np.ones((1, 30)), 2: np.linspace(-1.0, 1.0, 30)[None]}
    results = []
    for every in (1, 3, 7, 40, None):
        run = simulation(store_every=every)
        trajectory = run.run(state())
        results.append((trajectory.numpy(), run.pullback(trajectory, cotangents).numpy()))
    for numbers, gradient in results[1:]:
        assert np.array_equal(numbers, results[0][0])
        assert_allclose(gradient, results[0][1], rtol=1e-14)


def test_least_memory_grows_as_the_square_root_of_the_steps() -> None:
    def slots(steps: int) -> int:
        integration = simulation(substeps=steps // 2, store_every=None).prepare(1)
        return integration._stored.vectors.shape[1] + integration._records.shape[1]

    assert slots(10_000) <= 2 * np.sqrt(10_000)
    assert slots(10_000) <= 1.1 * np.sqrt(100) * slots(100)


def test_single_precision_storage_is_good_to_six_digits() -> None:
    double = simulation().run(state()).numpy()
    single = simulation().run(state(dtype=wp.float32)).numpy()
    error = np.abs(single - double).sum(axis=2) / double.sum(axis=2)
    assert 0.0 < error.max() < 1e-6
    run = simulation()
    cotangents = {2: np.ones((1, 30))}
    expected = run.pullback(run.run(state()), cotangents).numpy()
    found = run.pullback(run.run(state(dtype=wp.float32)), cotangents).numpy()
    assert found.dtype == np.float32
    assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"times": np.array([0.0])}, r"times \[s\]: expected at least two"),
        ({"times": np.array([0.0, 2.0, 1.0])}, "increasing"),
        ({"times": np.array([0.0, np.nan])}, "finite"),
        ({"substeps": 0}, "substeps: expected a positive number or None, got 0"),
        ({"store_every": -1}, "store_every: expected a positive number or None, got -1"),
        ({"method": "leapfrog"}, "leapfrog"),
    ],
)
def test_fields_are_checked(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulation(**fields)


def test_states_are_checked() -> None:
    other = SectionalState.from_numpy(NUMBER, SizeGrid.from_ratio(2e-24, 2.0**0.5, 30))
    with pytest.raises(ValueError, match="grid differs"):
        simulation().run(other)
    poisoned = state()
    poisoned.number.numpy()[0, 4] = np.nan
    with pytest.raises(ValueError, match=r"number \[m\^-3\].*index \[0, 4\].*not finite"):
        simulation().run(poisoned)
    boxes = Simulation(GRID, (CoagulationFixedPivot(np.broadcast_to(KERNEL, (3, 30, 30))),), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="given for 3 boxes, the state has 1"):
        boxes.run(state())


def test_cotangents_are_checked() -> None:
    run = simulation()
    trajectory = run.run(state())
    with pytest.raises(ValueError, match=r"cotangents: expected shape \[3, 1, 30\], got \[1, 30\]"):
        run.pullback(trajectory, wp.zeros((1, 30), dtype=wp.float64))
