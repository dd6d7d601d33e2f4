"""Twin experiments: a known past is recovered, and lies in the intervals as often as they promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.aerosol.inversion.twins import EXACT, HOUR, LOSS, twin

from retrograde.aerosol.inversion.adequacy import assess
from retrograde.aerosol.inversion.calibration import calibrate
from retrograde.aerosol.inversion.errors import ErrorSizes
from retrograde.aerosol.inversion.forecast import forecast
from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt
from retrograde.aerosol.inversion.recovering import recover, uncertainty_of
from retrograde.aerosol.inversion.recovery import geometric_mean, shape_distance
from retrograde.aerosol.inversion.search import find_minimum
from retrograde.aerosol.inversion.settings import Settings
from retrograde.aerosol.inversion.uncertainty import interval_factor


def test_the_past_is_recovered_and_the_other_guesses_are_not() -> None:
    """Number to 1 %, shape to 0.05, from a scan 10 minutes later; without coagulation 5 times worse."""
    known = twin(scans=5, number=1e12)
    result = recover(known.case([4], [0, 1, 2, 3], ensemble=32, starts=3), held_out=0)
    truth = known.truth[0]
    assert abs(result.state.total / truth.sum() - 1.0) < 0.01
    assert shape_distance(result.state.number, truth) < 0.05
    assert result.adequacy.adequate
    assert result.held_out is not None
    assert abs(result.held_out.recovered.number_error) < 0.01
    without = result.held_out.baselines[0]
    assert abs(without.number_error) > 5 * abs(result.held_out.recovered.number_error)
    assert without.shape_l1 > 3 * result.held_out.recovered.shape_l1
    assert result.held_out.coverage > 0.85
    assert result.minimum.start_distance < 0.01
    assert result.ensemble is not None
    assert result.ensemble.members == 32
    assert 0.8 < result.ensemble.ratio < 1.25
    low, high = result.state.total_interval()
    assert low < truth.sum() < high
    lower, upper = result.shown.total_interval()
    scan = known.observations.number[0].sum()
    assert lower < scan < upper
    assert result.shown.total < result.state.total
    assert (
        abs(result.shown.mean_diameter / geometric_mean(result.shown.diameters, known.observations.number[0]) - 1)
        < 0.01
    )


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Eighty draws of the noise at once, each a box: 95 % intervals of number, diameter and every resolved size."""
    known = twin(scans=3, single=0.0)
    noisy = twin(scans=3, single=2e6)
    case = noisy.case([2], knots_per_decade=8.0)
    problem = case.problem()
    mean = case.joining(case.channels(case.seen)) @ known.case([2]).channels(case.seen).number
    boxes = 80
    noise = np.random.default_rng(5).standard_normal((boxes, problem.channels))
    measured = mean + noise @ np.linalg.cholesky(problem.covariance).T
    start = problem.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)
    minimum = find_minimum(problem, start, replace(case.settings, strength=0.02))
    around = uncertainty_of(case, problem, minimum)
    solver = LevenbergMarquardt(problem, boxes)
    found = solver.solve(
        np.tile(minimum.x, (boxes, 1)),
        measured,
        np.full(boxes, 0.02),
        curvature=minimum.jacobian.T @ minimum.jacobian,
    )
    assert found.is_converged.all()
    truth = problem.unknown.from_spectrum(known.truth[0] / case.grid.ln_widths)
    deviation = np.sqrt(np.diagonal(around.covariance(true=False)))
    resolved = np.diagonal(around.averaging_kernel) > 0.8
    assert resolved.sum() >= 6
    inside = np.abs(found.x - truth)[:, resolved] < interval_factor(0.95) * deviation[resolved]
    assert 0.90 < inside.mean() < 0.995
    totals = problem.unknown.number(found.x).sum(axis=1)
    slope = problem.unknown.number(minimum.x) @ problem.unknown.basis / problem.unknown.number(minimum.x).sum()
    half = interval_factor(0.95) * np.sqrt(slope @ around.covariance(true=False) @ slope)
    covered = np.mean(np.abs(np.log(totals / known.truth[0].sum())) < half)
    assert covered > 0.87


def test_averaging_kernels_say_what_a_change_of_the_past_does() -> None:
    """A knot of the true past is raised by 2 %: the recovered one moves as the kernel's column says."""
    known = twin(scans=3, single=0.0)
    case = twin(scans=3, single=2e6).case([2], strength=0.3, knots_per_decade=8.0)
    problem = case.problem()
    start = problem.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)
    minimum = find_minimum(problem, start, case.settings)
    around = uncertainty_of(case, problem, minimum)
    assert around.degrees_of_freedom == pytest.approx(np.trace(around.averaging_kernel))
    solver = LevenbergMarquardt(problem, 2)
    for knot in (4, 9):
        pair = minimum.x + 0.02 * np.array([[1.0], [-1.0]]) * np.eye(problem.knots)[knot]
        predicted, _ = solver.evaluation.predict(pair)
        found = solver.solve(
            np.tile(minimum.x, (2, 1)), minimum.predicted + predicted - predicted.mean(axis=0), np.full(2, 0.3)
        )
        change = (found.x[0] - found.x[1]) / 0.04
        # The residuals of the fit bend the objective a little, which Gauss and Newton leave out.
        np.testing.assert_allclose(change, around.averaging_kernel[:, knot], atol=0.05)
    assert known.truth.shape[1] == case.grid.bins


@pytest.mark.parametrize(("factor", "adequate"), [(1.0, True), (4.0, False)])
def test_a_model_that_does_not_hold_is_rejected(factor: float, adequate: bool) -> None:
    """Particles that really coagulate four times as fast as prescribed are noticed; the right model passes."""
    case = twin(scans=6, number=1e12, factor=factor).case([5], [0, 1, 2, 3, 4], errors=ErrorSizes())
    result = recover(case)
    assert result.adequacy.adequate is adequate
    assert result.adequacy.is_rejected is not adequate
    if not adequate:
        assert result.adequacy.p < 1e-3


def test_one_scan_alone_cannot_be_tested() -> None:
    case = twin(scans=2).case([1])
    problem = case.problem()
    start = problem.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)
    minimum = find_minimum(problem, start, case.settings)
    known = uncertainty_of(case, problem, minimum)
    seen = forecast(case, problem, minimum.x, minimum.curve.strength, known, case.watched)
    assert assess(seen, case.turns, EXACT).adequate is None


def test_a_planted_loss_is_found_by_calibration() -> None:
    """Rate, slope and exponent of the power law, within three of their standard deviations and to 10 %."""
    known = twin(scans=8, every=300.0, single=2e4)
    settings = Settings(density=1000.0, errors=EXACT, knots_per_decade=10.0)
    result = calibrate(known.observations, np.arange(8), "power-law", settings)
    assert result.is_converged
    assert result.deviation < 5e-3
    away = (
        result.loss.coordinates()
        - replace(LOSS, names=result.loss.names, covariance=result.loss.covariance).coordinates()
    )
    assert np.all(np.abs(away) < 3.0 * np.sqrt(np.diagonal(result.loss.covariance)))
    air = known.case([1]).prescribed.air
    d = slice(4, 30)
    found, planted = (loss.rates(known.grid, air, 1000.0)[d] for loss in (result.loss, LOSS))
    np.testing.assert_allclose(found, planted, rtol=0.1)
    assert found.min() > 1.0 / HOUR


def test_calibration_asks_for_scans_in_which_number_falls() -> None:
    known = twin(scans=3)
    with pytest.raises(ValueError, match="at least 3 scans"):
        calibrate(known.observations, np.arange(2), "constant", Settings())
    rising = replace(known.observations, number=known.observations.number * np.array([[1.0], [2.0], [4.0]]))
    with pytest.raises(ValueError, match="does not fall"):
        calibrate(rising, np.arange(3), "constant", Settings())
