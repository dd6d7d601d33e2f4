"""Inversions of noisy data, that the intervals are held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt, Progress, Tolerances
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.search import Minimum
from retrograde.aerosol.inversion.uncertainty import Uncertainty

Floats = NDArray[np.float64]

_TOLERANCES = Tolerances(objective=1e-6)
"""The objective is half the sum of squares of a hundred or so errors of size one: near enough for a minimum to lie
within a hundredth of a standard deviation."""


@dataclass(frozen=True, eq=False)
class EnsembleCheck:
    """The scatter of inversions of data with noise drawn anew, beside what Laplace's approximation says.

    Attributes:
        members: Inversions that found their minimum.
        x: Their unknowns [1], shape [members, knots].
        deviation_ratio: Standard deviation of each unknown over the members, over that of the
            approximation [1], shape [knots].
    """

    members: int
    x: Floats
    deviation_ratio: Floats

    @property
    def ratio(self) -> float:
        """Root mean square of the ratios over the unknowns [1]: one where the approximation is right."""
        return float(np.sqrt(np.mean(self.deviation_ratio**2)))


def check_by_ensemble(
    problem: Problem,
    minimum: Minimum,
    known: Uncertainty,
    members: int,
    seed: int,
    *,
    progress: Progress | None = None,
    device: Any = None,
) -> EnsembleCheck:
    """Invert what the recovered state predicts, with noise of the problem's covariance, many times at once.

    Args:
        problem: The problem.
        minimum: Its minimum.
        known: Uncertainty there.
        members: Number of inversions, each a box.
        seed: Seed of the noise.
        progress: Told of every iteration.
        device: Warp device.
    """
    noise = np.random.default_rng(seed).standard_normal((members, problem.channels))
    measured = minimum.predicted + noise @ np.linalg.cholesky(problem.covariance).T
    solver = LevenbergMarquardt(problem, members, tolerances=_TOLERANCES, device=device)
    found = solver.solve(
        np.tile(minimum.x, (members, 1)),
        measured,
        np.full(members, minimum.curve.strength),
        curvature=minimum.jacobian.T @ minimum.jacobian,
        progress=progress,
    )
    x = found.x[found.is_converged]
    expected = np.sqrt(np.diagonal(known.gain @ problem.covariance @ known.gain.T))
    ratio = x.std(axis=0, ddof=1) / expected if len(x) > 1 else np.full(problem.knots, np.nan)
    return EnsembleCheck(len(x), x, ratio)
