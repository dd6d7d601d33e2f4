"""The score function estimator: weights of whole histories, no derivative of the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.particles.estimators.base import (
    Estimator,
    Parameter,
    StochasticProblem,
    by_bin,
    realise,
)
from retrograde.aerosol.particles.estimators.baselines import Baseline, expected_loss
from retrograde.aerosol.particles.events import Record
from retrograde.aerosol.particles.start import PoissonSample, PoissonStart

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScoreFunction(Estimator):
    """E[(loss - baseline) d ln p / d parameter], with p the density of the initial state.

    Unbiased, and needs nothing of the loss but its value. For the intensities the score is n / lambda - 1;
    for masses and spread it is that of the log-normal sizes, which need a spread above zero. What happens
    after the start has the same law whatever the parameters are, so events need no score.

    Attributes:
        baseline: What is subtracted from the loss.

    Source: Glynn (1990), Communications of the ACM 33, 75, doi:10.1145/84537.84552; Williams (1992),
    Machine Learning 8, 229, doi:10.1007/BF00992696; Kool, van Hoof and Welling (2019) for the means of
    the others.
    """

    baseline: Baseline = Baseline.LEAVE_ONE_OUT

    @property
    def name(self) -> str:
        """Score function, with its baseline."""
        return f"score function, baseline {self.baseline.value}"

    def _check(self, problem: StochasticProblem, parameter: Parameter) -> None:
        if parameter is not Parameter.INTENSITY and problem.start.spread == 0.0:
            raise ValueError(
                f"start: sizes without spread have no density, so the {parameter.value} has no score; "
                "use Combined, or a spread above zero"
            )

    def _is_biased(self, problem: StochasticProblem, parameter: Parameter) -> bool:
        return False

    def _contributions(
        self, problem: StochasticProblem, parameter: Parameter, boxes: int, seed: int, first_box: int
    ) -> tuple[Floats, Floats]:
        return scored_start(problem, parameter, self.baseline, boxes, seed, first_box)


def scored_start(
    problem: StochasticProblem, parameter: Parameter, baseline: Baseline, boxes: int, seed: int, first_box: int
) -> tuple[Floats, Floats]:
    """Losses [boxes], and every box's (loss - baseline) times the score of its start [boxes, parameters]."""
    done = realise(problem, boxes, seed, first_box, Record.NOTHING)
    features = initial_features(problem.start, done.sample)
    score, correlation = initial_score(problem.start, done.sample, parameter)
    expected, slopes = expected_loss(baseline, done.losses, features)
    # A baseline that moves with the start is correlated with the start's score: its mean is added back.
    return done.losses, (done.losses - expected)[:, np.newaxis] * score + slopes @ correlation


def initial_features(start: PoissonStart, sample: PoissonSample) -> Floats:
    """Surplus of particles and sum of the noise of every bin, and the surplus of squared noise of all.

    All have mean zero; shape [boxes, 2 bins + 1] with a spread, [boxes, bins] without.
    """
    surplus: Floats = sample.counts.astype(np.float64) - np.asarray(start.intensity, dtype=np.float64)
    if start.spread == 0.0:
        return surplus
    squares = np.where(sample.bins >= 0, sample.noise**2 - 1.0, 0.0).sum(axis=1, keepdims=True)
    return np.concatenate([surplus, by_bin(sample.noise, sample), squares], axis=1)


def initial_score(start: PoissonStart, sample: PoissonSample, parameter: Parameter) -> tuple[Floats, Floats]:
    """Score of the initial state, and the mean of its products with `initial_features`.

    Returns:
        Scores, shape [boxes, parameters], and means, shape [features, parameters].
    """
    intensity = np.asarray(start.intensity, dtype=np.float64)
    bins, spread = start.bins, start.spread
    features = bins if spread == 0.0 else 2 * bins + 1
    correlation = np.zeros((features, 1 if parameter is Parameter.SPREAD else bins))
    if parameter is Parameter.INTENSITY:
        correlation[:bins] = np.eye(bins)
        return sample.counts / intensity - 1.0, correlation
    if parameter is Parameter.LOG_MASS:
        correlation[bins : 2 * bins] = np.diag(intensity / spread)
        return by_bin(sample.noise, sample) / spread, correlation
    squares = np.where(sample.bins >= 0, sample.noise**2 - 1.0, 0.0).sum(axis=1, keepdims=True)
    correlation[2 * bins] = 2.0 * intensity.sum() / spread
    return squares / spread, correlation
