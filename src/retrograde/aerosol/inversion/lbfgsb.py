"""SciPy's L-BFGS-B with the tape's gradient, for one problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.jacobian import Columns
from retrograde.aerosol.inversion.levenberg_marquardt import Progress, Solution, Tolerances
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.stopping import Stopping

Floats = NDArray[np.float64]

_REACH = 1e4
"""Scaled unknowns stay this near the first guess [1]."""


class LBFGSB:
    """A problem's minimum by the quasi-Newton method of Byrd, Lu, Nocedal and Zhu (1995), doi:10.1137/0916069.

    Attributes:
        problem: The problem.
    """

    def __init__(self, problem: Problem, *, tolerances: Tolerances | None = None, device: Any = None) -> None:
        self.problem = problem
        self._tolerances = tolerances or Tolerances()
        self._evaluation = Evaluation(problem, 1, device=device)
        self._columns = Columns(problem, 1, device=device)

    def solve(self, start: Floats, measured: Floats, strength: float, *, progress: Progress | None = None) -> Solution:
        """Search from `start`.

        Args:
            start: First guess [1], shape [knots].
            measured: What was measured [m^-3], shape [channels].
            strength: Strength of the prior [1].
            progress: Told of every iteration.
        """
        boxed, strengths = measured[None], np.array([strength])
        first = float(self._evaluation.evaluate(start[None], boxed, strengths).objective[0])
        if not np.isfinite(first):
            return self._solution(start, boxed, strengths, Stopping.INVALID_START, 0)
        scaling = self._scaling(start, strength)
        count = 0

        def value(z: Floats) -> tuple[float, Floats]:
            now = self._evaluation.evaluate((start + scaling @ z)[None], boxed, strengths)
            objective = float(now.objective[0])
            # A finite wall where the simulation's steps are too long; the line search turns back.
            return (objective if np.isfinite(objective) else 1e3 * (1.0 + first)), now.gradient[0] @ scaling

        def told(_: Floats) -> None:
            nonlocal count
            count += 1
            if progress is not None:
                progress(f"L-BFGS-B, iteration {count}")

        limit = self._tolerances.iterations
        options = {"maxiter": 20 * limit, "maxfun": 100 * limit, "ftol": 1e-13, "gtol": 1e-7, "maxcor": 30}
        from scipy.optimize import minimize  # slow to import, and most inversions do without

        search: Any = minimize
        result = search(
            value,
            np.zeros_like(start),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-_REACH, _REACH)] * start.size,
            options=options,
            callback=told,
        )
        return self._solution(
            start + scaling @ np.asarray(result.x), boxed, strengths, _reason(result), int(result.nit)
        )

    def _scaling(self, start: Floats, strength: float) -> Floats:
        """Change of variables in which the curvature at the first guess is one: the objective is round."""
        jacobian = self._columns.whitened(start[None])[0]
        curvature = jacobian.T @ jacobian + strength * self.problem.roughness.T @ self.problem.roughness
        floor = 1e-6 * float(np.trace(curvature)) / start.size + 1.0
        factor: Floats = np.asarray(np.linalg.cholesky(curvature + floor * np.eye(start.size)), dtype=np.float64)
        return np.asarray(np.linalg.inv(factor), dtype=np.float64).T

    def _solution(self, x: Floats, measured: Floats, strengths: Floats, reason: Stopping, iterations: int) -> Solution:
        now = self._evaluation.evaluate(x[None], measured, strengths)
        count = np.array([iterations], dtype=np.int64)
        return Solution(x[None], now.objective, now.gradient, now.predicted, (reason,), count)


def _reason(result: Any) -> Stopping:
    message = str(result.message).upper()
    if "ABNORMAL" in message:
        return Stopping.STUCK
    if int(result.status) == 1:
        return Stopping.ITERATIONS
    return Stopping.GRADIENT if "GRADIENT" in message else Stopping.OBJECTIVE
