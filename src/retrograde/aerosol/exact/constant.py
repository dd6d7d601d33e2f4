"""Exact solutions for the constant kernel, without and with growth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, gammaincc

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol.exact.base import ExponentialStart, check_time

Floats = NDArray[np.float64]


class _StaysExponential(ExponentialStart):
    """A density that is (number / mean) exp(-v / mean) at all times."""

    def _shape(self, time: float) -> tuple[float, float]:
        """Number concentration [m^-3] and mean volume [m^3] after `time`."""
        raise NotImplementedError

    def number_density(self, volume: Any, time: float) -> Floats:
        """Number density [m^-3 m^-3] at volumes [m^3], of their shape, after `time` [s]."""
        number, mean = self._shape(check_time(time))
        return number / mean * np.exp(-np.asarray(volume, dtype=np.float64) / mean)

    def moment(self, order: float, time: float) -> float:
        """Moment of the density [m^(3 order - 3)]; any order above -1."""
        number, mean = self._shape(check_time(time))
        return float(number * mean**order * gamma(order + 1.0))

    def bin_moments(self, order: float, edges: Any, time: float) -> Floats:
        """The moment of each bin [m^(3 order - 3)], shape [bins], in closed form."""
        number, mean = self._shape(check_time(time))
        above = np.asarray(gammaincc(order + 1.0, np.asarray(edges, dtype=np.float64) / mean), dtype=np.float64)
        return number * mean**order * float(gamma(order + 1.0)) * -np.diff(above)


@dataclass(frozen=True)
class ConstantSolution(_StaysExponential):
    """Constant kernel K0 from an exponential start.

    With tau = K0 N0 t: n = (N0 / v0) 4 / (tau + 2)^2 exp(-2 v / (v0 (tau + 2))).

    Attributes:
        rate: Kernel K0 [m^3 s^-1].
        number: Initial number concentration N0 [m^-3].
        mean_volume: Initial mean volume v0 [m^3].

    Source: Schumann (1940), Quarterly Journal of the Royal Meteorological Society 66, 195,
    doi:10.1002/qj.49706628508.
    """

    rate: float
    number: float
    mean_volume: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate, "m^3 s^-1")
        self._check_start()

    def _shape(self, time: float) -> tuple[float, float]:
        half = 1.0 + 0.5 * self.rate * self.number * time
        return self.number / half, self.mean_volume * half


@dataclass(frozen=True)
class ConstantGrowthSolution(_StaysExponential):
    """Constant kernel K0 with growth dv/dt = s v, from an exponential start.

    With tau = K0 N0 t and lam = s / (K0 N0):
    n = (N0 / v0) 4 / (tau + 2)^2 exp(-2 v e^(-lam tau) / (v0 (tau + 2)) - lam tau).

    Attributes:
        rate: Kernel K0 [m^3 s^-1].
        growth_rate: Relative growth rate of the volume s [s^-1]; negative for evaporation.
        number: Initial number concentration N0 [m^-3].
        mean_volume: Initial mean volume v0 [m^3].

    Source: Ramabhadran, Peterson and Seinfeld (1976), AIChE Journal 22, 840,
    doi:10.1002/aic.690220505.
    """

    rate: float
    growth_rate: float
    number: float
    mean_volume: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate, "m^3 s^-1")
        if not np.isfinite(self.growth_rate):
            raise ValueError(f"growth_rate [s^-1]: expected a finite number, got {self.growth_rate}")
        self._check_start()

    def _shape(self, time: float) -> tuple[float, float]:
        half = 1.0 + 0.5 * self.rate * self.number * time
        return self.number / half, self.mean_volume * half * float(np.exp(self.growth_rate * time))
