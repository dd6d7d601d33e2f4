"""A recovered state beside a scan that the inversion did not use, and simpler guesses beside it too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.forecast import Forecast
from retrograde.aerosol.inversion.recovery import geometric_mean, shape_distance
from retrograde.aerosol.inversion.uncertainty import interval_factor

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """A guess of a scan against what was measured.

    Attributes:
        name: What the guess is.
        number_error: Guessed over measured number, less one [1].
        mean_diameter_error: The same of the geometric mean diameter [1].
        shape_l1: Sum of the absolute differences of the two distributions, each brought to a total of one [1].
    """

    name: str
    number_error: float
    mean_diameter_error: float
    shape_l1: float

    @classmethod
    def of(cls, name: str, diameters: Floats, guess: Floats, measured: Floats) -> Comparison:
        """Compare numbers by size."""
        return cls(
            name,
            float(guess.sum() / measured.sum()) - 1.0,
            geometric_mean(diameters, guess) / geometric_mean(diameters, measured) - 1.0,
            shape_distance(guess, measured),
        )


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The scan at the recovered time, which the inversion did not use.

    Attributes:
        scan: Its index.
        number: Measured number [m^-3].
        diameters: Channels [m], shape [channels].
        measured: Measured numbers [m^-3], shape [channels].
        predicted: Recovered numbers, as the instrument would have shown them [m^-3], shape [channels].
        deviation: Standard deviation of the difference [m^-3], shape [channels].
        coverage: Share of the channels whose measured number lies in the recovered interval.
        recovered: The comparison.
        baselines: Simpler guesses.
    """

    scan: int
    number: float
    diameters: Floats
    measured: Floats
    predicted: Floats
    deviation: Floats
    coverage: float
    recovered: Comparison
    baselines: tuple[Comparison, ...]


def compare_held_out(forecast: Forecast, scan: int, level: float, others: list[tuple[str, Floats]]) -> HeldOut:
    """The comparison.

    Args:
        forecast: Forecast that has the scan.
        scan: Its index.
        level: Probability of an interval.
        others: Simpler guesses by name: numbers in the scan's channels [m^-3], shape [channels].
    """
    chosen = np.flatnonzero(forecast.channels.scans == scan)
    measured, predicted = forecast.channels.number[chosen], forecast.predicted[chosen]
    diameters, deviation = forecast.channels.diameters[chosen], forecast.deviations(chosen)
    inside = np.abs(measured - predicted) <= interval_factor(level) * deviation
    # The distribution of what is compared must not be negative, as an instrument's own may be.
    shown = np.maximum(measured, 0.0)
    return HeldOut(
        scan=scan,
        number=float(measured.sum()),
        diameters=diameters,
        measured=measured,
        predicted=predicted,
        deviation=deviation,
        coverage=float(np.mean(inside)),
        recovered=Comparison.of("recovered", diameters, predicted, shown),
        baselines=tuple(Comparison.of(name, diameters, guess, shown) for name, guess in others),
    )
