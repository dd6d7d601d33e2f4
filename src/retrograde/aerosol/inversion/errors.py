"""What makes measured and predicted numbers differ: independent noise, and errors that many channels share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_not_negative, check_positive
from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.inversion.channels import Channels
from retrograde.aerosol.inversion.charging import doubly_charged_share
from retrograde.aerosol.inversion.penetration import DEFAULT_FLOW, EQUIVALENT_LENGTH, pipe_penetration

Floats = NDArray[np.float64]

MULTIPLE_CHARGE, DIFFUSION_LOSS = "multiple charge", "diffusion loss"

MODEL = "model"
"""Name of the error of what the model leaves out."""

_RANGE = 0.3
"""Distance in ln D over which smooth errors of the instrument keep their sign."""


@dataclass(frozen=True)
class ErrorSizes:
    """Standard deviations of the errors that no file states.

    Attributes:
        channel: Of each channel by itself, relative [1].
        scan: Of all channels of one scan together, relative [1]: flows, mixing in the chamber.
        sizing: Of all diameters of one scan together, in ln D [1]: flows, voltages, delays.
        response: Smooth in size and the same in all scans, relative [1]: efficiencies, transfer function.
        kernel: Of the coagulation kernel, relative [1].
        model: Of the model's prediction, smooth in size, relative [1]: what it leaves out; at least.
        model_limit: The same at most. Between the two it is taken as large as the scans ask for; where they
            ask for more, the model is rejected.

    Raises:
        ValueError: A value is negative or not finite.
    """

    channel: float = 0.01
    scan: float = 0.01
    sizing: float = 0.01
    response: float = 0.03
    kernel: float = 0.1
    model: float = 0.03
    model_limit: float = 0.06

    def __post_init__(self) -> None:
        for name in ("channel", "scan", "sizing", "response", "kernel"):
            check_not_negative(name, getattr(self, name), "1")
        check_positive("model", self.model, "1")
        if not self.model_limit >= self.model:
            raise ValueError(f"model_limit [1]: expected at least model, {self.model}, got {self.model_limit}")


class Reach(Enum):
    """How far an error that channels share reaches."""

    SCAN = "one scan"
    """It enters the fit."""
    INSTRUMENT = "all scans of the instrument"
    """It is the same earlier: it cancels in what the instrument would have shown, not in the true aerosol."""
    MODEL = "the model"
    """It lies in what is prescribed or left out, and grows into the recovered state."""


@dataclass(frozen=True, eq=False)
class ErrorModes:
    """Errors shared by channels, each mode an independent cause of size one.

    Attributes:
        values: Change of each channel by one standard deviation of each cause [m^-3], shape [channels, modes].
        names: What each mode is, by mode.
        reaches: How far each mode reaches, by mode.
    """

    values: Floats
    names: tuple[str, ...]
    reaches: tuple[Reach, ...]

    @classmethod
    def of(cls, name: str, values: Floats, reach: Reach) -> ErrorModes:
        """Modes of one kind."""
        return cls(values, (name,) * values.shape[1], (reach,) * values.shape[1])

    def joined(self, other: ErrorModes) -> ErrorModes:
        """These modes and more of the same channels."""
        values = np.concatenate([self.values, other.values], axis=1)
        return ErrorModes(values, self.names + other.names, self.reaches + other.reaches)

    def reaching(self, *reaches: Reach) -> ErrorModes:
        """Those that reach as far as one of `reaches`."""
        chosen = [k for k, reach in enumerate(self.reaches) if reach in reaches]
        return ErrorModes(
            self.values[:, chosen],
            tuple(self.names[k] for k in chosen),
            tuple(self.reaches[k] for k in chosen),
        )

    def scaled(self, name: str, factor: float) -> ErrorModes:
        """The same with the modes of one name `factor` times as large."""
        factors = np.array([factor if n == name else 1.0 for n in self.names])
        return ErrorModes(self.values * factors, self.names, self.reaches)

    def summed(self, weights: Any) -> ErrorModes:
        """Modes of weighted sums of the channels; `weights` has shape [sums, channels]."""
        return ErrorModes(np.asarray(weights @ self.values), self.names, self.reaches)


def independent_variance(channels: Channels, sizes: ErrorSizes) -> Floats:
    """Variance of what no channels share [m^-6], shape [channels]: counting, and each channel's own error."""
    return channels.counting_variance + (sizes.channel * channels.smoothed) ** 2


def instrument_modes(
    observations: Observations, channels: Channels, sizes: ErrorSizes, temperature: float, pressure: float
) -> ErrorModes:
    """Shared errors of the measurement.

    Multiple charges and diffusional losses count where the file does not say that they were
    corrected; they are as large as the effect itself.

    Args:
        observations: The file.
        channels: Channels of some of its scans; those of one scan stand together.
        sizes: Sizes of the errors.
        temperature: Temperature [K].
        pressure: Pressure [Pa].
    """
    y = channels.smoothed
    scans = np.unique(channels.scans)
    of_scan = (channels.scans[:, None] == scans[None, :]).astype(np.float64)
    by_scan = ErrorModes.of("scan to scan", sizes.scan * y[:, None] * of_scan, Reach.SCAN)
    sizing = ErrorModes.of("sizing", sizes.sizing * (y * channels.slope)[:, None] * of_scan, Reach.SCAN)
    shape = smooth_shape(observations.diameters)[channels.bins]
    response = ErrorModes.of("response", sizes.response * y[:, None] * shape, Reach.INSTRUMENT)
    result = by_scan.joined(sizing).joined(response)
    if observations.diameter_kind not in ("mobility", "unknown"):
        return result
    if MULTIPLE_CHARGE not in observations.corrected_for:
        share = _charge_share(observations, channels, temperature, pressure)
        result = result.joined(ErrorModes.of("multiple charges", (share * y)[:, None] * shape, Reach.INSTRUMENT))
    if DIFFUSION_LOSS not in observations.corrected_for:
        flow = observations.flow or DEFAULT_FLOW
        passed = pipe_penetration(channels.diameters, EQUIVALENT_LENGTH, flow, temperature, pressure)
        share = np.minimum(1.0 / np.maximum(passed, 0.1) - 1.0, 1.0)
        result = result.joined(ErrorModes.of("diffusion losses", (share * y)[:, None], Reach.INSTRUMENT))
    return result


def model_modes(
    observations: Observations, channels: Channels, sizes: ErrorSizes, turns: list[NDArray[np.intp]]
) -> ErrorModes:
    """What the model leaves out: smooth in size, the same for the scans of one turn, independent between turns.

    Args:
        observations: The file.
        channels: Channels of some of its scans.
        sizes: Sizes of the errors.
        turns: Scans of every turn.
    """
    shape = (sizes.model * channels.smoothed)[:, None] * smooth_shape(observations.diameters)[channels.bins]
    parts = [np.where(np.isin(channels.scans, turn)[:, None], shape, 0.0) for turn in turns]
    return ErrorModes.of(MODEL, np.concatenate(parts, axis=1), Reach.MODEL)


def _charge_share(observations: Observations, channels: Channels, temperature: float, pressure: float) -> Floats:
    """Share of doubly charged particles in the mean of the scans, by channel."""
    total = np.zeros(observations.bins)
    np.add.at(total, channels.bins, channels.smoothed)
    spectrum = total / np.diff(np.log(observations.edges))
    share = doubly_charged_share(observations.diameters, spectrum, temperature, pressure)
    return np.minimum(share, 1.0)[channels.bins]


def smooth_shape(diameters: Floats) -> Floats:
    """Modes of a smooth random function of ln D with variance one, shape [bins, modes]."""
    ln_d = np.log(diameters)
    correlation = np.exp(-0.5 * ((ln_d[:, None] - ln_d[None, :]) / _RANGE) ** 2)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > 1e-3 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
