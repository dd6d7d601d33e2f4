"""Exact solution for the product kernel, before gelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol.exact.base import ExponentialStart, check_time
from retrograde.aerosol.exact.series import sum_terms

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ProductSolution(ExponentialStart):
    """Product kernel b v w from an exponential start, before gelling.

    With T = b N0 v0^2 t < 1/2 and x = v / v0:
    n = (N0 / v0) exp(-(1 + T) x) sum over k of T^k x^(3k) / ((k + 1)! (2k + 1)!).

    Attributes:
        coefficient: Kernel's coefficient b [m^-3 s^-1].
        number: Initial number concentration N0 [m^-3].
        mean_volume: Initial mean volume v0 [m^3].

    Source: Scott (1968), Journal of the Atmospheric Sciences 25, 54,
    doi:10.1175/1520-0469(1968)025<0054:ASOCDC>2.0.CO;2; gelling after Ernst, Hendriks and Ziff
    (1982), Journal of Physics A 15, L743.
    """

    coefficient: float
    number: float
    mean_volume: float

    def __post_init__(self) -> None:
        check_positive("coefficient", self.coefficient, "m^-3 s^-1")
        self._check_start()

    @property
    def gelling_time(self) -> float:
        """Time at which the second moment diverges and volume starts to leave for the gel [s]."""
        return 0.5 / (self.coefficient * self.number * self.mean_volume**2)

    def _progress(self, time: float) -> float:
        progress = self.coefficient * self.number * self.mean_volume**2 * check_time(time)
        if progress >= 0.5:
            raise ValueError(f"time [s]: expected a time before gelling at {self.gelling_time:g} s, got {time:g}")
        return progress

    def number_density(self, volume: Any, time: float) -> Floats:
        """Number density [m^-3 m^-3] at volumes [m^3], of their shape, after `time` [s]."""
        progress = self._progress(time)
        x = np.asarray(volume, dtype=np.float64) / self.mean_volume
        scale = self.number / self.mean_volume
        if progress == 0.0:
            return scale * np.exp(-x)
        flat = np.atleast_1d(x).reshape(-1)
        sums = np.empty_like(flat)
        for chunk in np.array_split(np.argsort(flat), max(1, flat.size // 64)):
            sums[chunk] = _series(flat[chunk], progress)
        return scale * sums.reshape(x.shape)

    def moment(self, order: float, time: float) -> float:
        """Moment of the density [m^(3 order - 3)]; orders 0, 1, 2 in closed form, others above -1 by a series."""
        progress = self._progress(time)
        scale = self.number * self.mean_volume**order
        closed = {0.0: 1.0 - 0.5 * progress, 1.0: 1.0, 2.0: 2.0 / (1.0 - 2.0 * progress)}
        if order in closed:
            return scale * closed[order]
        if progress == 0.0:
            return scale * float(np.exp(gammaln(order + 1.0)))

        def log_term(k: Floats) -> Floats:
            n = 3.0 * k + 1.0 + order
            return (
                k * np.log(progress) - gammaln(k + 2.0) - gammaln(2.0 * k + 2.0) + gammaln(n) - n * np.log1p(progress)
            )

        return scale * sum_terms(log_term)


def _series(x: Floats, progress: float) -> Floats:
    """The series with its exponential factor at x > 0, shape [n], summed past its largest term."""
    peak = float(np.cbrt(0.25 * progress) * x.max())
    k = np.arange(int(peak + 12.0 * np.sqrt(peak + 1.0)) + 40, dtype=np.float64)
    coefficients = k * np.log(progress) - gammaln(k + 2.0) - gammaln(2.0 * k + 2.0)
    logs = coefficients + 3.0 * k * np.log(x[:, None]) - (1.0 + progress) * x[:, None]
    return np.exp(logs).sum(axis=1)
