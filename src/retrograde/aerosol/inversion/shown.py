"""The recovered aerosol as the instrument would have shown it: a scan that begins at the recovered time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.case import Case
from retrograde.aerosol.inversion.errors import smooth_shape
from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.jacobian import STEP
from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.recovery import geometric_mean
from retrograde.aerosol.inversion.uncertainty import Uncertainty, interval_factor

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ShownScan:
    """A scan of the recovered aerosol, each channel at its own time after the recovered one.

    While a scan lasts, the number falls; its total is therefore less than that of the air at its start.
    Intervals leave out errors that are the same in all scans of the instrument.

    Attributes:
        diameters: Channels [m], shape [channels].
        ln_widths: Their widths in ln D [1], shape [channels].
        number: Numbers [m^-3], shape [channels].
        jacobian: Their derivatives to the unknowns [m^-3], shape [channels, knots].
        uncertainty: Uncertainty of the unknowns.
        level: Probability of an interval to hold the truth.
        own: Errors of this scan by itself, each column an independent cause [m^-3], shape [channels, causes]:
            what differs from scan to scan, and what the model leaves out.
    """

    diameters: Floats
    ln_widths: Floats
    number: Floats
    jacobian: Floats
    uncertainty: Uncertainty
    level: float
    own: Floats

    @property
    def total(self) -> float:
        """Total number [m^-3]."""
        return float(self.number.sum())

    @property
    def mean_diameter(self) -> float:
        """Geometric mean diameter by number [m]."""
        return geometric_mean(self.diameters, self.number)

    def total_interval(self) -> tuple[float, float]:
        """Interval of the total number [m^-3]."""
        half = self._half(np.full(self.number.size, 1.0 / self.total))
        return self.total * float(np.exp(-half)), self.total * float(np.exp(half))

    def mean_diameter_interval(self) -> tuple[float, float]:
        """Interval of the geometric mean diameter [m]."""
        weights = (np.log(self.diameters) - np.log(self.mean_diameter)) / self.total
        half = self._half(weights)
        return self.mean_diameter * float(np.exp(-half)), self.mean_diameter * float(np.exp(half))

    def interval(self) -> tuple[Floats, Floats]:
        """Interval of the number in each channel [m^-3], two of shape [channels]."""
        variance = np.einsum("mk,kl,ml->m", self.jacobian, self.uncertainty.covariance(true=False), self.jacobian)
        relative = np.sqrt(variance + (self.own**2).sum(axis=1)) / np.maximum(self.number, 1e-300)
        half = interval_factor(self.level) * relative
        return self.number * np.exp(-half), self.number * np.exp(half)

    def _half(self, weights: Floats) -> float:
        """Half width of the interval of a logarithm whose derivatives to the numbers are `weights` [m^3]."""
        slope, own = weights @ self.jacobian, weights @ self.own
        variance = float(slope @ self.uncertainty.covariance(true=False) @ slope + own @ own)
        return interval_factor(self.level) * float(np.sqrt(variance))


def show_scan(case: Case, problem: Problem, x: Floats, known: Uncertainty, model_error: float) -> ShownScan:
    """A scan that begins at the recovered time, with the channels' delays of the first scan that was seen.

    Args:
        case: The case.
        problem: Its problem.
        x: The minimum [1], shape [knots].
        known: Uncertainty there.
        model_error: Error of what the model leaves out, relative [1].
    """
    first = case.channels(case.seen[:1])
    delay = (case.observations.start[case.seen[0]] - case.at) / np.timedelta64(1, "ns") * 1e-9
    nodes = problem.simulation.times
    times = np.clip(first.times - delay, 0.0, nodes[-1])
    operator = ObservationOperator.build(case.grid, nodes, times, first.diameters, first.ln_widths)
    steps = STEP * np.concatenate([np.zeros((1, x.size)), np.eye(x.size), -np.eye(x.size)])
    numbers = operator.apply(Evaluation(problem, len(steps)).trajectory(x + steps))
    jacobian = (numbers[1 : x.size + 1] - numbers[x.size + 1 :]).T / (2.0 * STEP)
    shape = smooth_shape(first.diameters)
    own = numbers[0][:, None] * np.column_stack([np.full(first.count, case.settings.errors.scan), model_error * shape])
    return ShownScan(first.diameters, first.ln_widths, numbers[0], jacobian, known, case.settings.level, own)
