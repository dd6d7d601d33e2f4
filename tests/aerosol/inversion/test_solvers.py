"""Minima: by either solver, from far starts, for many boxes, with reasons for stopping."""

from __future__ import annotations

import numpy as np
import pytest
from tests.aerosol.inversion.twins import twin

from retrograde.aerosol.inversion.lbfgsb import LBFGSB
from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt, Tolerances
from retrograde.aerosol.inversion.minima import find_minima
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.search import find_minimum
from retrograde.aerosol.inversion.stopping import Stopping
from retrograde.aerosol.inversion.strength import strength_curve


@pytest.fixture(scope="module")
def problem() -> tuple[Problem, np.ndarray]:
    case = twin(scans=3).case([2], knots_per_decade=10.0)
    made = case.problem()
    return made, made.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)


def test_both_solvers_find_one_minimum_and_boxes_do_not_mix(problem: tuple[Problem, np.ndarray]) -> None:
    made, start = problem
    offsets = np.array([0.0, 1.0, -1.0, 0.0])[:, None]
    strengths = np.array([0.1, 0.1, 0.1, 10.0])
    solver = LevenbergMarquardt(made, 4)
    told: list[str] = []
    found = solver.solve(start + offsets, np.tile(made.measured, (4, 1)), strengths, progress=told.append)
    assert found.is_converged.all()
    assert told
    np.testing.assert_allclose(found.x[1:3], np.tile(found.x[0], (2, 1)), atol=2e-3)
    assert found.objective[3] > 1.2 * found.objective[0]
    single = LBFGSB(made).solve(start, made.measured, 0.1)
    assert single.stopping[0].is_converged
    assert single.objective[0] == pytest.approx(found.objective[0], rel=1e-6)
    np.testing.assert_allclose(single.x[0], found.x[0], atol=5e-3)


def test_reasons_for_stopping_are_told(problem: tuple[Problem, np.ndarray]) -> None:
    made, start = problem
    solver = LevenbergMarquardt(made, 2, tolerances=Tolerances(iterations=2))
    starts = np.stack([start, start + 40.0])
    found = solver.solve(starts, np.tile(made.measured, (2, 1)), np.full(2, 0.1))
    assert found.stopping == (Stopping.ITERATIONS, Stopping.INVALID_START)
    assert not found.is_converged.any()
    assert LBFGSB(made).solve(start + 40.0, made.measured, 0.1).stopping == (Stopping.INVALID_START,)


def test_a_start_with_too_many_particles_to_simulate_is_thinned(problem: tuple[Problem, np.ndarray]) -> None:
    made, start = problem
    _, is_valid = LevenbergMarquardt(made, 1).evaluation.predict((start + 10.0)[None])
    assert not is_valid[0]
    measured, strengths = np.tile(made.measured, (2, 1)), np.full(2, 0.1)
    found = LevenbergMarquardt(made, 2).solve(np.stack([start, start + 10.0]), measured, strengths)
    assert found.is_converged.all()
    np.testing.assert_allclose(found.x[1], found.x[0], atol=2e-3)


def test_many_sets_of_data_are_inverted_as_one_by_one(problem: tuple[Problem, np.ndarray]) -> None:
    """Strengths too: each box has the minimum and the strength that it would have by itself."""
    made, start = problem
    noise = np.random.default_rng(4).standard_normal((3, made.channels)) @ np.linalg.cholesky(made.covariance).T
    measured = made.measured + noise
    together = find_minima(made, np.tile(start, (3, 1)), measured, "gcv")
    assert together.solution.is_converged.all()
    assert len(set(together.strength)) > 1
    for box in range(3):
        alone = find_minima(made, start[None], measured[box : box + 1], "gcv")
        assert alone.strength[0] == together.strength[box]
        np.testing.assert_allclose(alone.x[0], together.x[box], atol=1e-6)
    kernel = together.averaging_kernel()
    traces = [
        c.degrees_of_freedom[np.argmin(np.abs(c.strengths - s))]
        for c, s in zip(together.curves, together.strength, strict=True)
    ]
    np.testing.assert_allclose(np.trace(kernel, axis1=1, axis2=2), traces, rtol=1e-6)


def test_cross_validation_and_l_curve_choose_from_the_linear_problem(problem: tuple[Problem, np.ndarray]) -> None:
    """The curve's misfit rises, its roughness falls; GCV is the textbook's expression at the chosen strength."""
    made, start = problem
    case_free = find_minimum(made, start, twin(scans=3).case([2]).settings)
    curve = case_free.curve
    assert np.all(np.diff(curve.misfit) >= -1e-9)
    assert np.all(np.diff(curve.roughness) <= 1e-9)
    k = int(np.argmin(np.abs(curve.strengths - curve.strength)))
    assert k == int(np.argmin(curve.gcv))
    j, s = case_free.jacobian, curve.strength
    influence = j @ np.linalg.solve(j.T @ j + s * made.roughness.T @ made.roughness, j.T)
    data = made.whitening @ (made.measured - case_free.predicted) + j @ case_free.x
    left = data - influence @ data
    expected = made.channels * (left @ left) / np.trace(np.eye(made.channels) - influence) ** 2
    assert curve.gcv[k] == pytest.approx(expected, rel=0.02)
    corner = strength_curve(made, case_free.x, case_free.predicted, j, "l-curve")
    assert corner.curvature[np.argmin(np.abs(corner.strengths - corner.strength))] == corner.curvature.max()
    assert strength_curve(made, case_free.x, case_free.predicted, j, 0.7).strength == 0.7


def test_a_covariance_that_is_none_is_refused(problem: tuple[Problem, np.ndarray]) -> None:
    made, _ = problem
    with pytest.raises(ValueError, match="positive definite"):
        Problem(made.unknown, made.simulation, made.operator, made.measured, -made.covariance)
    with pytest.raises(ValueError, match=r"measured \[m\^-3\]"):
        Problem(made.unknown, made.simulation, made.operator, made.measured[1:], made.covariance)
