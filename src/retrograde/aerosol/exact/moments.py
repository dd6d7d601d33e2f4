"""Moments under the three solvable kernels from any start, and their exact gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_not_negative, check_positive
from retrograde.aerosol.exact.base import check_time

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """The first three moments of a size distribution.

    Attributes:
        zeroth: Number concentration M0 [m^-3].
        first: Volume of particles per volume of air M1 [m^3 m^-3].
        second: Second moment M2 [m^3].
    """

    zeroth: float
    first: float
    second: float

    def __post_init__(self) -> None:
        check_not_negative("zeroth", self.zeroth, "m^-3")
        check_not_negative("first", self.first, "m^3 m^-3")
        check_not_negative("second", self.second, "m^3")

    @classmethod
    def of(cls, number: Any, volumes: Any) -> Moments:
        """Moments of numbers [m^-3] at volumes [m^3], both of shape [bins]."""
        n = np.asarray(number, dtype=np.float64)
        v = np.asarray(volumes, dtype=np.float64)
        return cls(float(n.sum()), float(n @ v), float(n @ v**2))


@dataclass(frozen=True)
class MomentGradients:
    """Derivatives of later moments to the number added at given volumes at the start.

    Attributes:
        zeroth: d M0(t) / d N(x) [1], shape of the volumes.
        first: d M1(t) / d N(x) [m^3]: the volume itself.
        second: d M2(t) / d N(x) [m^6].
    """

    zeroth: Floats
    first: Floats
    second: Floats


class MomentEvolution(ABC):
    """Closed equations of the first three moments under one kernel, whatever the distribution."""

    @abstractmethod
    def moments(self, start: Moments, time: float) -> Moments:
        """Moments after `time` [s] from the moments at the start."""

    @abstractmethod
    def gradients(self, start: Moments, volume: Any, time: float) -> MomentGradients:
        """Exact derivatives of the moments after `time` [s] to the number added at `volume` [m^3]."""


@dataclass(frozen=True)
class ConstantMoments(MomentEvolution):
    """Constant kernel: M0' = -K0 M0^2 / 2, M2' = K0 M1^2.

    Attributes:
        rate: Kernel K0 [m^3 s^-1].

    Source: Smoluchowski (1916), Physikalische Zeitschrift 17, 557.
    """

    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate, "m^3 s^-1")

    def moments(self, start: Moments, time: float) -> Moments:
        """M0 / (1 + K0 M0 t / 2), M1, M2 + K0 M1^2 t."""
        kt = self.rate * check_time(time)
        return Moments(start.zeroth / (1.0 + 0.5 * kt * start.zeroth), start.first, start.second + kt * start.first**2)

    def gradients(self, start: Moments, volume: Any, time: float) -> MomentGradients:
        """(1 + K0 M0 t / 2)^-2, x, x^2 + 2 K0 t M1 x."""
        kt = self.rate * check_time(time)
        x = np.asarray(volume, dtype=np.float64)
        zeroth = np.full_like(x, (1.0 + 0.5 * kt * start.zeroth) ** -2)
        return MomentGradients(zeroth, x.copy(), x**2 + 2.0 * kt * start.first * x)


@dataclass(frozen=True)
class AdditiveMoments(MomentEvolution):
    """Additive kernel b (v + w): M0' = -b M0 M1, M2' = 2 b M1 M2.

    Attributes:
        slope: Kernel's slope b [s^-1].

    Source: Golovin (1963), Bulletin of the Academy of Sciences of the USSR, Geophysics 5, 482.
    """

    slope: float

    def __post_init__(self) -> None:
        check_positive("slope", self.slope, "s^-1")

    def moments(self, start: Moments, time: float) -> Moments:
        """M0 exp(-b M1 t), M1, M2 exp(2 b M1 t)."""
        exponent = self.slope * check_time(time) * start.first
        zeroth, second = start.zeroth * np.exp(-exponent), start.second * np.exp(2.0 * exponent)
        return Moments(float(zeroth), start.first, float(second))

    def gradients(self, start: Moments, volume: Any, time: float) -> MomentGradients:
        """exp(-b M1 t) (1 - M0 b t x), x, exp(2 b M1 t) (x^2 + 2 b t M2 x)."""
        bt = self.slope * check_time(time)
        x = np.asarray(volume, dtype=np.float64)
        zeroth = np.exp(-bt * start.first) * (1.0 - start.zeroth * bt * x)
        second = np.exp(2.0 * bt * start.first) * (x**2 + 2.0 * bt * start.second * x)
        return MomentGradients(zeroth, x.copy(), second)


@dataclass(frozen=True)
class ProductMoments(MomentEvolution):
    """Product kernel b v w before gelling: M0' = -b M1^2 / 2, M2' = b M2^2.

    Attributes:
        coefficient: Kernel's coefficient b [m^-3 s^-1].

    Source: McLeod (1962), Quarterly Journal of Mathematics 13, 119, doi:10.1093/qmath/13.1.119.
    """

    coefficient: float

    def __post_init__(self) -> None:
        check_positive("coefficient", self.coefficient, "m^-3 s^-1")

    def gelling_time(self, start: Moments) -> float:
        """Time at which the second moment diverges [s]."""
        return 1.0 / (self.coefficient * start.second)

    def moments(self, start: Moments, time: float) -> Moments:
        """M0 - b M1^2 t / 2, M1, M2 / (1 - b M2 t); a ValueError from the gelling time on."""
        bt, rest = self._progress(start, time)
        return Moments(start.zeroth - 0.5 * bt * start.first**2, start.first, start.second / rest)

    def gradients(self, start: Moments, volume: Any, time: float) -> MomentGradients:
        """1 - b t M1 x, x, x^2 / (1 - b M2 t)^2; a ValueError from the gelling time on."""
        bt, rest = self._progress(start, time)
        x = np.asarray(volume, dtype=np.float64)
        return MomentGradients(1.0 - bt * start.first * x, x.copy(), x**2 / rest**2)

    def _progress(self, start: Moments, time: float) -> tuple[float, float]:
        bt = self.coefficient * check_time(time)
        rest = 1.0 - bt * start.second
        if rest <= 0.0:
            raise ValueError(
                f"time [s]: expected a time before gelling at {self.gelling_time(start):g} s, got {time:g}"
            )
        return bt, rest
