"""Minima of one problem for many sets of data at once, each with a strength of the prior of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.jacobian import Columns
from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt, Progress, Solution
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.strength import StrengthCurve, strength_curve

Floats = NDArray[np.float64]

FIRST_STRENGTH = 0.01
"""Strength of the prior before one was chosen [1]."""

_ROUNDS = 4
_STEP_OF_STRENGTH = 0.2


@dataclass(frozen=True, eq=False)
class Minima:
    """The minimum of every box.

    Attributes:
        problem: The problem; of its data only the covariance of the errors counts here.
        solution: Unknowns, objectives, predictions and reasons for stopping of the last search.
        jacobian: Whitened Jacobians at the minima [1], shape [boxes, channels, knots].
        curves: Choice of the prior's strength, by box.
        strength: Strength of the prior that each minimum was found with [1], shape [boxes].
    """

    problem: Problem
    solution: Solution
    jacobian: Floats
    curves: tuple[StrengthCurve, ...]
    strength: Floats

    @property
    def x(self) -> Floats:
        """Unknowns [1], shape [boxes, knots]."""
        return self.solution.x

    def covariance(self) -> Floats:
        """Laplace's covariance of the unknowns by noise and prior [1], shape [boxes, knots, knots]."""
        prior = self.problem.roughness.T @ self.problem.roughness
        data = self.jacobian.transpose(0, 2, 1) @ self.jacobian
        return np.asarray(np.linalg.inv(data + self.strength[:, None, None] * prior), dtype=np.float64)

    def averaging_kernel(self) -> Floats:
        """Change of the recovered unknowns by a change of the true ones [1], shape [boxes, knots, knots]."""
        return self.covariance() @ self.jacobian.transpose(0, 2, 1) @ self.jacobian


def find_minima(
    problem: Problem,
    start: Floats,
    measured: Floats,
    rule: str | float,
    *,
    progress: Progress | None = None,
    device: Any = None,
) -> Minima:
    """Invert many sets of data in turns of a search and a choice of the strength, until the choice stays.

    Args:
        problem: Processes, channels, and the covariance of the errors of every box.
        start: First guess [1], shape [boxes, knots].
        measured: What was measured in every box [m^-3], shape [boxes, channels].
        rule: Rule of the strength, or the strength itself.
        progress: Told of every iteration.
        device: Warp device.
    """
    boxes = len(start)
    solver, columns = LevenbergMarquardt(problem, boxes, device=device), Columns(problem, boxes, device=device)

    def search(x: Floats, strength: Floats) -> Minima:
        solution = solver.solve(x, measured, strength, progress=progress)
        jacobian = columns.whitened(solution.x)
        curves = tuple(
            strength_curve(problem, solution.x[b], solution.predicted[b], jacobian[b], rule, measured=measured[b])
            for b in range(boxes)
        )
        return Minima(problem, solution, jacobian, curves, strength)

    found = search(start, np.full(boxes, FIRST_STRENGTH if isinstance(rule, str) else rule))
    for _ in range(_ROUNDS - 1):
        chosen = np.array([curve.strength for curve in found.curves])
        moved = np.abs(np.log(chosen / found.strength)) > _STEP_OF_STRENGTH
        if not moved.any():
            break
        found = search(found.x, np.where(moved, chosen, found.strength))
    return found
