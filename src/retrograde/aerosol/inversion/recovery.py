"""The answer to an inverse problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.uncertainty import Uncertainty, interval_factor

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RecoveredState:
    """A recovered spectrum and how well it is known.

    Attributes:
        unknown: Parametrisation.
        x: Most probable unknowns [1], shape [knots].
        uncertainty: Laplace's approximation about them.
        level: Probability of an interval to hold the truth.
    """

    unknown: LogKnots
    x: Floats
    uncertainty: Uncertainty
    level: float

    @property
    def grid(self) -> SizeGrid:
        """Size bins."""
        return self.unknown.grid

    @property
    def number(self) -> Floats:
        """Number in each bin [m^-3], shape [bins]."""
        return self.unknown.number(self.x)

    @property
    def total(self) -> float:
        """Total number [m^-3]."""
        return float(self.number.sum())

    @property
    def mean_diameter(self) -> float:
        """Geometric mean diameter by number [m]."""
        return geometric_mean(self.grid.diameters, self.number)

    def total_interval(self, *, true: bool = False) -> tuple[float, float]:
        """Interval of the total number [m^-3], log-normal; see `Uncertainty.covariance` for `true`."""
        slope = self.number @ self.unknown.basis / self.total
        half = self._factor * float(np.sqrt(slope @ self.uncertainty.covariance(true=true) @ slope))
        return self.total * float(np.exp(-half)), self.total * float(np.exp(half))

    def mean_diameter_interval(self, *, true: bool = False) -> tuple[float, float]:
        """Interval of the geometric mean diameter [m]."""
        share = self.number / self.total
        slope = (share * (self.grid.ln_diameters - np.log(self.mean_diameter))) @ self.unknown.basis
        half = self._factor * float(np.sqrt(slope @ self.uncertainty.covariance(true=true) @ slope))
        return self.mean_diameter * float(np.exp(-half)), self.mean_diameter * float(np.exp(half))

    def interval(self, *, true: bool = False) -> tuple[Floats, Floats]:
        """Interval of the number in each bin [m^-3], two of shape [bins]."""
        basis = self.unknown.basis
        variance = np.einsum("ik,kl,il->i", basis, self.uncertainty.covariance(true=true), basis)
        half = self._factor * np.sqrt(variance)
        return self.number * np.exp(-half), self.number * np.exp(half)

    @property
    def _factor(self) -> float:
        return interval_factor(self.level)


def geometric_mean(diameters: Floats, number: Floats) -> float:
    """Geometric mean diameter by number [m]."""
    return float(np.exp(np.log(diameters) @ number / number.sum()))


def shape_distance(left: Floats, right: Floats) -> float:
    """Sum of the absolute differences of two distributions, each brought to a total of one [1]: 0 to 2."""
    return float(np.abs(left / left.sum() - right / right.sum()).sum())
