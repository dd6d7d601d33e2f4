"""What an exact solution of the coagulation equation offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_not_negative, check_positive

Floats = NDArray[np.float64]

PANEL = 0.25
"""Largest width in ln v that one rule of the quadrature over bins covers."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


class ExactSolution(ABC):
    """A size distribution known at all times.

    Densities are numbers per volume of air and per volume of particle [m^-3 m^-3]; times are seconds
    since the start [s].
    """

    @abstractmethod
    def number_density(self, volume: Any, time: float) -> Floats:
        """Number density [m^-3 m^-3] at volumes [m^3], of their shape, after `time` [s]."""

    @abstractmethod
    def moment(self, order: float, time: float) -> float:
        """Integral of volume^order times the number density [m^(3 order - 3)] after `time` [s]."""

    def total_number(self, time: float) -> float:
        """Number concentration [m^-3] after `time` [s]."""
        return self.moment(0.0, time)

    def total_volume(self, time: float) -> float:
        """Volume of particles per volume of air [m^3 m^-3] after `time` [s]."""
        return self.moment(1.0, time)

    def bin_moments(self, order: float, edges: Any, time: float) -> Floats:
        """The moment of each bin: the integral between neighbouring edges.

        By Gauss-Legendre quadrature in ln v on panels no wider than `PANEL`; relative error below
        1e-11 where the density itself is known that well.

        Args:
            order: Power of the volume [1].
            edges: Bin edges, positive and increasing [m^3], shape [bins + 1].
            time: Time since the start [s].

        Returns:
            Moments [m^(3 order - 3)], shape [bins].
        """
        logs = np.log(np.asarray(edges, dtype=np.float64))
        result = np.empty(logs.size - 1)
        for i, (low, high) in enumerate(pairwise(logs)):
            panels = max(1, int(np.ceil((high - low) / PANEL)))
            half = 0.5 * (high - low) / panels
            centres = low + half * (2.0 * np.arange(panels) + 1.0)
            volume = np.exp(centres[:, None] + half * _NODES)
            integrand = self.number_density(volume, time) * volume ** (order + 1.0)
            result[i] = half * float((integrand @ _WEIGHTS).sum())
        return result

    def bin_numbers(self, edges: Any, time: float) -> Floats:
        """Number concentration of each bin [m^-3], shape [bins]."""
        return self.bin_moments(0.0, edges, time)

    def bin_volumes(self, edges: Any, time: float) -> Floats:
        """Volume of the particles of each bin per volume of air [m^3 m^-3], shape [bins]."""
        return self.bin_moments(1.0, edges, time)


class ExponentialStart(ExactSolution):
    """A solution that starts from n = (N0 / v0) exp(-v / v0).

    Attributes:
        number: Initial number concentration N0 [m^-3].
        mean_volume: Initial mean volume v0 [m^3].
    """

    number: float
    mean_volume: float

    def _check_start(self) -> None:
        check_positive("number", self.number, "m^-3")
        check_positive("mean_volume", self.mean_volume, "m^3")


def check_time(time: float) -> float:
    """The time, refused if negative or not finite."""
    check_not_negative("time", time, "s")
    return float(time)
