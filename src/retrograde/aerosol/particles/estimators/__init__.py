"""Estimators of the derivative of a mean over stochastic processes: one interface, one result."""

from retrograde.aerosol.particles.estimators.base import (
    Estimator,
    GradientEstimate,
    Parameter,
    StochasticProblem,
)
from retrograde.aerosol.particles.estimators.baselines import Baseline
from retrograde.aerosol.particles.estimators.pathwise import Combined, Pathwise
from retrograde.aerosol.particles.estimators.relaxed import Choice, Gumbel, StraightThrough
from retrograde.aerosol.particles.estimators.score import ScoreFunction

__all__ = [
    "Baseline",
    "Choice",
    "Combined",
    "Estimator",
    "GradientEstimate",
    "Gumbel",
    "Parameter",
    "Pathwise",
    "ScoreFunction",
    "StochasticProblem",
    "StraightThrough",
]
