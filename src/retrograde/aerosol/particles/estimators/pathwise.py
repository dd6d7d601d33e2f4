"""Estimators that differentiate a realisation: pathwise, and combined with the score of its events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import to_host
from retrograde.aerosol.particles.estimators.base import (
    Estimator,
    Parameter,
    Realisation,
    StochasticProblem,
    check_margin,
    check_spread,
    realise,
    through_masses,
)
from retrograde.aerosol.particles.estimators.baselines import Baseline, expected_loss
from retrograde.aerosol.particles.estimators.score import initial_features, scored_start
from retrograde.aerosol.particles.events import Record
from retrograde.aerosol.particles.replay import EventScore, pullback
from retrograde.aerosol.physics import TableKernel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pathwise(Estimator):
    """The derivative of the loss with the events held fixed, through their replay.

    Little noise. It misses that other masses would have met other events, and so is biased wherever a rate
    depends on size; the result says so. Sizes with a spread are differentiated through mass times
    exp(spread e): the reparameterised estimator.

    Source: Glasserman (1991), Gradient estimation via perturbation analysis; Kingma and Welling (2014),
    arXiv:1312.6114, for the noise.
    """

    @property
    def name(self) -> str:
        """Pathwise."""
        return "pathwise"

    def _check(self, problem: StochasticProblem, parameter: Parameter) -> None:
        if parameter is Parameter.INTENSITY:
            raise ValueError(
                "parameter: whole numbers of particles do not move with their intensity, so no path has a "
                "derivative; use ScoreFunction or Combined"
            )
        check_spread(problem, parameter)

    def _is_biased(self, problem: StochasticProblem, parameter: Parameter) -> bool:
        return problem.events_see_size()

    def _contributions(
        self, problem: StochasticProblem, parameter: Parameter, boxes: int, seed: int, first_box: int
    ) -> tuple[Floats, Floats]:
        done = realise(problem, boxes, seed, first_box, Record.EVENTS)
        assert done.trajectory.events is not None
        initial = pullback(done.trajectory.events, _final_cotangent(problem, done))
        return done.losses, through_masses(parameter, to_host(initial), done.sample)


@dataclass(frozen=True)
class Combined(Estimator):
    """The pathwise derivative plus (loss - baseline) times the score of the events: unbiased.

    But for a kernel given as a table where sizes have a spread, whose steps have no score.

    The intensity acts through the start alone, whose score is then all there is.

    Attributes:
        baseline: What is subtracted from the loss.

    Source: Schulman, Heess, Weber and Abbeel (2015), arXiv:1506.05254; for thinned jump processes, accepted
    and rejected proposals, Glasserman (1991).
    """

    baseline: Baseline = Baseline.REGRESSION

    @property
    def name(self) -> str:
        """Combined, with its baseline."""
        return f"combined, baseline {self.baseline.value}"

    def _check(self, problem: StochasticProblem, parameter: Parameter) -> None:
        check_spread(problem, parameter)
        if parameter is not Parameter.INTENSITY and problem.events_see_size():
            check_margin(problem)

    def _is_biased(self, problem: StochasticProblem, parameter: Parameter) -> bool:
        # A table's steps, met by sizes with a density, move a mean in a way that no path and no score sees.
        steps = isinstance(problem.simulation.kernel, TableKernel) and problem.start.spread > 0.0
        return steps and parameter is not Parameter.INTENSITY

    def _contributions(
        self, problem: StochasticProblem, parameter: Parameter, boxes: int, seed: int, first_box: int
    ) -> tuple[Floats, Floats]:
        if parameter is Parameter.INTENSITY:
            return scored_start(problem, parameter, self.baseline, boxes, seed, first_box)
        done = realise(problem, boxes, seed, first_box, Record.PROPOSALS)
        # Given the start, the score of the events has mean zero, so any function of the start may be subtracted.
        expected, _ = expected_loss(self.baseline, done.losses, initial_features(problem.start, done.sample))
        score = EventScore(problem.simulation, done.trajectory)
        initial = score.pullback(_final_cotangent(problem, done), done.losses - expected)
        return done.losses, through_masses(parameter, to_host(initial), done.sample)


def _final_cotangent(problem: StochasticProblem, done: Realisation) -> Floats:
    """Derivatives of the losses to the final masses, shape [boxes, slots, species]."""
    _, by_volumes = problem.loss.gradient(done.presence, done.volumes)
    return (by_volumes * done.presence)[..., np.newaxis] / done.trajectory.final.density
