"""Solutions with a first-order loss that is the same for all sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol.exact.base import ExactSolution, check_time
from retrograde.aerosol.exact.constant import ConstantGrowthSolution
from retrograde.aerosol.exact.moments import MomentEvolution, MomentGradients, Moments

Floats = NDArray[np.float64]


def slowed_time(rate: float, time: float) -> float:
    """Time that coagulation alone would need, (1 - exp(-rate t)) / rate [s].

    With a loss rate [s^-1] equal for all sizes, n(v, t) = exp(-rate t) m(v, s), where m solves the
    equation without loss and s is this time: coagulation is quadratic in the number and slows with it.
    """
    check_positive("rate", rate, "s^-1")
    return -float(np.expm1(-rate * check_time(time))) / rate


@dataclass(frozen=True)
class DilutedSolution(ExactSolution):
    """An exact solution under dilution, or any loss that does not depend on size.

    Attributes:
        solution: Solution without loss; one of coagulation only, without growth.
        rate: First-order loss rate [s^-1].
    """

    solution: ExactSolution
    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate, "s^-1")
        if isinstance(self.solution, ConstantGrowthSolution):
            raise ValueError("solution: growth keeps its own time, so this solution cannot be diluted by slowing it")

    def number_density(self, volume: Any, time: float) -> Floats:
        """Number density [m^-3 m^-3] at volumes [m^3], of their shape, after `time` [s]."""
        return np.exp(-self.rate * time) * self.solution.number_density(volume, slowed_time(self.rate, time))

    def moment(self, order: float, time: float) -> float:
        """Moment of the density [m^(3 order - 3)] after `time` [s]."""
        return float(np.exp(-self.rate * time)) * self.solution.moment(order, slowed_time(self.rate, time))

    def bin_moments(self, order: float, edges: Any, time: float) -> Floats:
        """The moment of each bin [m^(3 order - 3)], shape [bins]."""
        return np.exp(-self.rate * time) * self.solution.bin_moments(order, edges, slowed_time(self.rate, time))


@dataclass(frozen=True)
class DilutedMoments(MomentEvolution):
    """Moments and their gradients under a loss that does not depend on size.

    Attributes:
        evolution: Moments without loss.
        rate: First-order loss rate [s^-1].
    """

    evolution: MomentEvolution
    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate, "s^-1")

    def moments(self, start: Moments, time: float) -> Moments:
        """Moments after `time` [s]."""
        later = self.evolution.moments(start, slowed_time(self.rate, time))
        left = float(np.exp(-self.rate * time))
        return Moments(left * later.zeroth, left * later.first, left * later.second)

    def gradients(self, start: Moments, volume: Any, time: float) -> MomentGradients:
        """Exact derivatives of the moments after `time` [s] to the number added at `volume` [m^3]."""
        later = self.evolution.gradients(start, volume, slowed_time(self.rate, time))
        left = float(np.exp(-self.rate * time))
        return MomentGradients(left * later.zeroth, left * later.first, left * later.second)
