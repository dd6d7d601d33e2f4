"""From unknowns to channels: parametrisation, observation operator, smoothness, gradient."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from tests.aerosol.inversion.twins import twin

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.jacobian import Columns
from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.prior import roughness_matrix

GRID = SizeGrid.geometric(20e-9, 800e-9, bins_per_decade=24)


def test_a_log_normal_is_a_parabola_between_knots() -> None:
    """A natural cubic spline through a parabola errs only near its ends."""
    unknown = LogKnots.even(GRID, 20e-9, 800e-9, 16)
    spectrum = 1e11 * np.exp(-0.5 * (np.log(GRID.diameters / 100e-9) / np.log(1.8)) ** 2)
    x = unknown.from_spectrum(spectrum)
    error = np.abs(unknown.number(x) / GRID.ln_widths / spectrum - 1.0)[unknown.inside]
    assert error.max() < 2e-3
    assert error[12:-12].max() < 2e-5


def test_log_normals_and_power_laws_are_free_and_a_cubic_is_not() -> None:
    """The third derivative of x = (ln D)^3 / 6 is one everywhere, also between knots at unequal distances."""
    even = LogKnots.even(GRID, 20e-9, 800e-9, 16)
    uneven = LogKnots(GRID, GRID.diameters[[0, 2, 3, 7, 12, 14, 20, 30]])
    for unknown in (even, uneven):
        ln_d, rows = np.log(unknown.diameters / 100e-9), roughness_matrix(unknown)
        np.testing.assert_allclose(rows @ (3.0 + 2.0 * ln_d - 0.5 * (ln_d / np.log(1.7)) ** 2), 0.0, atol=1e-8)
        part = (ln_d[3:] - ln_d[:-3]) / 3.0
        np.testing.assert_allclose(rows @ (ln_d**3 / 6.0), np.sqrt(part), rtol=1e-9)


@pytest.mark.parametrize("knots", [[0, 2, 3, 7], [0, 1, 2, 3, 30], list(range(0, 31, 3))])
def test_between_knots_it_is_a_natural_spline(knots: list[int]) -> None:
    unknown = LogKnots(GRID, GRID.diameters[knots])
    spline = make_interp_spline(np.log(unknown.diameters), np.eye(len(knots)), k=3, bc_type="natural")
    inside = unknown.inside
    np.testing.assert_allclose(unknown.basis[inside], spline(np.log(GRID.diameters[inside])), rtol=0.0, atol=1e-13)
    assert not unknown.basis[~inside].any()


def test_a_first_guess_has_the_number_that_was_seen() -> None:
    known = twin(scans=3, number=2e12)
    case = known.case([2])
    simulation = case.simulation()
    seen = simulation.run(SectionalState.from_numpy(case.first_guess(), case.grid)).final.numpy()[0]
    channels = case.channels(case.seen)
    assert seen.sum() == pytest.approx(channels.smoothed.sum(), rel=0.1)


def test_channels_copy_bins_and_interpolate_in_time() -> None:
    nodes = np.array([0.0, 10.0, 30.0])
    number = np.arange(3.0)[:, None, None] * 10.0 + np.arange(GRID.bins) + 1.0
    times = np.array([0.0, 5.0, 25.0, 30.0])
    chosen = np.array([0, 3, 7, GRID.bins - 1])
    operator = ObservationOperator.build(GRID, nodes, times, GRID.diameters[chosen], GRID.ln_widths[chosen])
    expected = chosen + 1.0 + np.array([0.0, 5.0, 17.5, 20.0])
    np.testing.assert_allclose(operator.apply(number)[0], expected, rtol=1e-12)


def test_finer_channels_share_a_spectrum_that_is_linear_in_ln_diameter() -> None:
    fine = SizeGrid.geometric(30e-9, 500e-9, bins_per_decade=71)
    spectrum = 5.0 + 2.0 * GRID.ln_diameters
    states = np.broadcast_to(spectrum * GRID.ln_widths, (2, 1, GRID.bins))
    operator = ObservationOperator.build(
        GRID, np.array([0.0, 1.0]), np.full(fine.bins, 0.3), fine.diameters, fine.ln_widths
    )
    np.testing.assert_allclose(operator.apply(states)[0], (5.0 + 2.0 * fine.ln_diameters) * fine.ln_widths, rtol=1e-10)


def test_what_lies_outside_is_refused() -> None:
    nodes, width = np.array([0.0, 1.0]), np.array([0.1])
    with pytest.raises(ValueError, match="after the last state"):
        ObservationOperator.build(GRID, nodes, np.array([2.0]), np.array([100e-9]), width)
    with pytest.raises(ValueError, match="outside the grid"):
        ObservationOperator.build(GRID, nodes, np.array([0.5]), np.array([5e-9]), width)
    with pytest.raises(ValueError, match="at least 4"):
        LogKnots(GRID, np.array([30e-9, 40e-9]))
    with pytest.raises(ValueError, match="the knots reach"):
        LogKnots(GRID, np.geomspace(1e-9, 1e-7, 8))


def test_gradient_and_columns_agree_with_differences() -> None:
    """Along every knot: the tape's gradient, Gauss and Newton's columns, and differences of the objective."""
    case = twin(scans=3).case([1, 2])
    problem = case.problem()
    x = problem.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)
    knots = problem.knots
    steps = 1e-4 * np.concatenate([np.zeros((1, knots)), np.eye(knots), -np.eye(knots)])
    boxes = len(steps)
    strength, measured = np.full(boxes, 0.3), np.tile(problem.measured, (boxes, 1))
    value = Evaluation(problem, boxes).evaluate(x + steps, measured, strength)
    assert np.all(np.isfinite(value.objective))
    differences = (value.objective[1 : knots + 1] - value.objective[knots + 1 :]) / 2e-4
    scale = np.abs(value.gradient[0]).max()
    np.testing.assert_allclose(value.gradient[0], differences, atol=2e-7 * scale)
    columns = Columns(problem, 1).whitened(x[None])[0]
    residual = problem.whitening @ (value.predicted[0] - problem.measured)
    by_columns = columns.T @ residual + 0.3 * problem.roughness.T @ (problem.roughness @ x)
    np.testing.assert_allclose(by_columns, value.gradient[0], atol=2e-7 * scale)
