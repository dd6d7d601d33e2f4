"""Exact solution for the additive kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ive

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol.exact.base import ExponentialStart, check_time
from retrograde.aerosol.exact.series import sum_terms

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AdditiveSolution(ExponentialStart):
    """Additive kernel b (v + w) from an exponential start.

    With T = 1 - exp(-b N0 v0 t) and x = v / v0:
    n = N0 (1 - T) / (v sqrt(T)) exp(-(1 + T) x) I1(2 x sqrt(T)).

    Attributes:
        slope: Kernel's slope b [s^-1].
        number: Initial number concentration N0 [m^-3].
        mean_volume: Initial mean volume v0 [m^3].

    Source: Golovin (1963), Bulletin of the Academy of Sciences of the USSR, Geophysics 5, 482; as
    written by Scott (1968), Journal of the Atmospheric Sciences 25, 54,
    doi:10.1175/1520-0469(1968)025<0054:ASOCDC>2.0.CO;2.
    """

    slope: float
    number: float
    mean_volume: float

    def __post_init__(self) -> None:
        check_positive("slope", self.slope, "s^-1")
        self._check_start()

    def _progress(self, time: float) -> tuple[float, float]:
        """T and 1 - T, each without cancellation."""
        exponent = self.slope * self.number * self.mean_volume * check_time(time)
        return -float(np.expm1(-exponent)), float(np.exp(-exponent))

    def number_density(self, volume: Any, time: float) -> Floats:
        """Number density [m^-3 m^-3] at volumes [m^3], of their shape, after `time` [s]."""
        progress, rest = self._progress(time)
        x = np.asarray(volume, dtype=np.float64) / self.mean_volume
        root = float(np.sqrt(progress))
        z = x * root
        safe = np.where(z > 1e-9, z, 1.0)
        bessel = np.where(z > 1e-9, np.asarray(ive(1, 2.0 * safe)) / safe, np.exp(-2.0 * z))
        decay = np.exp(-x * (rest / (1.0 + root)) ** 2)
        return self.number * rest / self.mean_volume * bessel * decay

    def moment(self, order: float, time: float) -> float:
        """Moment of the density [m^(3 order - 3)]; orders 0, 1, 2 in closed form, others above -1 by a series."""
        progress, rest = self._progress(time)
        closed = {0.0: rest, 1.0: 1.0, 2.0: 2.0 / rest**2}
        scale = self.number * self.mean_volume**order
        if order in closed:
            return scale * closed[order]

        def log_term(j: Floats) -> Floats:
            power = np.where(j > 0, j * np.log(progress if progress > 0 else 1.0), 0.0)
            blocked = np.where((j > 0) & (progress == 0), -np.inf, 0.0)
            n = 2.0 * j + 1.0 + order
            return blocked + power - gammaln(j + 1.0) - gammaln(j + 2.0) + gammaln(n) - n * np.log1p(progress)

        return scale * rest * sum_terms(log_term)
