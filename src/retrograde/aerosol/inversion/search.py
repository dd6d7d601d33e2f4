"""From a problem to its minimum: strength of the prior, several first guesses, a solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.jacobian import Columns
from retrograde.aerosol.inversion.lbfgsb import LBFGSB
from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt, Progress, Solution
from retrograde.aerosol.inversion.minima import find_minima
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.settings import Settings
from retrograde.aerosol.inversion.stopping import Stopping
from retrograde.aerosol.inversion.strength import StrengthCurve

Floats = NDArray[np.float64]

SPREAD = 1.0
"""Standard deviation of the smooth random changes of a first guess [1]: a factor e."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The best minimum found, and what led to it.

    Attributes:
        x: Unknowns [1], shape [knots].
        predicted: Predicted channels [m^-3], shape [channels].
        objective: Objective [1].
        jacobian: Whitened Jacobian [1], shape [channels, knots].
        curve: Choice of the prior's strength.
        stopping: Why the search ended.
        iterations: Iterations of that search.
        start_objectives: Objective that every first guess led to [1], shape [starts].
        start_distance: Largest difference of an unknown between the minima of two first guesses that
            came within one of the least objective, in standard deviations of the unknown [1].
    """

    x: Floats
    predicted: Floats
    objective: float
    jacobian: Floats
    curve: StrengthCurve
    stopping: Stopping
    iterations: int
    start_objectives: Floats
    start_distance: float


def find_minimum(
    problem: Problem, start: Floats, settings: Settings, *, progress: Progress | None = None, device: Any = None
) -> Minimum:
    """Choose the strength of the prior, and search from several first guesses.

    Args:
        problem: The problem.
        start: First guess [1], shape [knots]; the others are smooth random changes of it.
        settings: Rule of the strength, solver, number of first guesses, seed.
        progress: Told of every iteration.
        device: Warp device.
    """
    rule = settings.strength
    chosen = find_minima(problem, start[None], problem.measured[None], rule, progress=progress, device=device)
    curve = chosen.curves[0]
    columns = Columns(problem, 1, device=device)
    strengths = np.full(settings.starts, curve.strength)
    guesses = _guesses(problem, start, settings)
    if settings.solver == "l-bfgs-b":
        single = LBFGSB(problem, device=device)
        runs = [single.solve(g, problem.measured, curve.strength, progress=progress) for g in guesses]
        found = _joined(runs)
    else:
        many = LevenbergMarquardt(problem, settings.starts, device=device)
        measured = np.tile(problem.measured, (settings.starts, 1))
        found = many.solve(guesses, measured, strengths, progress=progress)
    best = int(np.argmin(found.objective))
    jacobian = columns.whitened(found.x[best : best + 1])[0]
    return Minimum(
        x=found.x[best],
        predicted=found.predicted[best],
        objective=float(found.objective[best]),
        jacobian=jacobian,
        curve=curve,
        stopping=found.stopping[best],
        iterations=int(found.iterations[best]),
        start_objectives=found.objective,
        start_distance=_distance(problem, found, jacobian, curve.strength),
    )


def _guesses(problem: Problem, start: Floats, settings: Settings) -> Floats:
    """The first guess, and smooth random changes of it, shape [starts, knots]."""
    ln_d = np.log(problem.unknown.diameters)
    correlation = np.exp(-0.5 * ((ln_d[:, None] - ln_d[None, :]) / 0.7) ** 2) + 1e-9 * np.eye(ln_d.size)
    noise = np.random.default_rng(settings.seed).standard_normal((settings.starts, ln_d.size))
    changes = SPREAD * noise @ np.linalg.cholesky(correlation).T
    changes[0] = 0.0
    return start + changes


def _distance(problem: Problem, found: Solution, jacobian: Floats, strength: float) -> float:
    near = np.flatnonzero(found.objective <= found.objective.min() + 1.0)
    curvature = jacobian.T @ jacobian + strength * problem.roughness.T @ problem.roughness
    deviation = np.sqrt(np.diagonal(np.linalg.inv(curvature)))
    return float((np.ptp(found.x[near], axis=0) / deviation).max())


def _joined(runs: list[Solution]) -> Solution:
    return Solution(
        np.concatenate([r.x for r in runs]),
        np.concatenate([r.objective for r in runs]),
        np.concatenate([r.gradient for r in runs]),
        np.concatenate([r.predicted for r in runs]),
        tuple(r.stopping[0] for r in runs),
        np.concatenate([r.iterations for r in runs]),
    )
