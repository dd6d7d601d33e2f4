"""The measured values of some scans as one list of channels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from retrograde.aerosol.formats.observations import Observations

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SMOOTHING = 0.08
"""Standard deviation in ln D of the smoothing that relative errors refer to."""

_OUTLIER = 20.0
"""A scan that scatters this many times as much as the median of the scans is left out."""

_WINDOW = 13
"""Channels over which the scatter between neighbours is pooled."""


@dataclass(frozen=True, eq=False)
class Channels:
    """Values that are there, of some scans and a range of sizes.

    Attributes:
        scans: Index of each channel's scan among all of the file's [1], shape [channels].
        bins: Index of each channel's size bin, shape [channels].
        times: Time of each channel since the origin [s], shape [channels].
        diameters: Centres [m], shape [channels].
        ln_widths: Widths in ln D [1], shape [channels].
        number: Measured number [m^-3], shape [channels].
        smoothed: The same, smoothed over neighbouring sizes [m^-3], shape [channels].
        slope: d ln(spectrum) / d ln D of the smoothed values [1], shape [channels].
        counting_variance: Variance by counting statistics [m^-6], shape [channels].
    """

    scans: Ints
    bins: Ints
    times: Floats
    diameters: Floats
    ln_widths: Floats
    number: Floats
    smoothed: Floats
    slope: Floats
    counting_variance: Floats

    @classmethod
    def of(
        cls, observations: Observations, origin: np.datetime64, scans: Ints, bins: Ints, single_count: Floats
    ) -> Channels:
        """Channels of chosen scans and bins, missing values left out.

        Args:
            observations: The file.
            origin: Time zero.
            scans: Indices of the scans, shape [scans].
            bins: Indices of the bins, shape [bins].
            single_count: Number concentration that one counted particle stands for in each bin of
                the file [m^-3], shape [bins of the file]; used where the file has no uncertainty.
        """
        smoothed, slope = np.full(observations.number.shape, np.nan), np.full(observations.number.shape, np.nan)
        smoothed[scans], slope[scans] = _smooth(observations, scans)
        if observations.uncertainty is not None:
            variance = np.maximum(observations.uncertainty, single_count) ** 2
        else:
            variance = single_count * np.maximum(smoothed, single_count)
        s, b = (a.reshape(-1) for a in np.meshgrid(scans, bins, indexing="ij"))
        there = np.isfinite(observations.number[s, b]) & np.isfinite(variance[s, b])
        s, b = s[there], b[there]
        times = (observations.times[s, b] - origin) / np.timedelta64(1, "ns") * 1e-9
        return cls(
            scans=s,
            bins=b,
            times=times,
            diameters=observations.diameters[b],
            ln_widths=np.diff(np.log(observations.edges))[b],
            number=observations.number[s, b],
            smoothed=smoothed[s, b],
            slope=slope[s, b],
            counting_variance=variance[s, b],
        )

    @property
    def count(self) -> int:
        """Number of channels."""
        return int(self.number.size)


def single_counts(observations: Observations) -> Floats:
    """Number concentration that one counted particle stands for in each bin [m^-3], shape [bins].

    Taken from the file's uncertainties or counts where it has them; otherwise from the scatter
    between neighbouring sizes: the third differences of Poisson counts have twenty times the
    variance of one, which is the mean times what is sought. Pooled over all scans and over
    neighbouring sizes.
    """
    number = np.maximum(observations.number, 0.0)
    if observations.counts is not None:
        ratio = _pooled_ratio(number, observations.counts)
    elif observations.uncertainty is not None:
        ratio = _pooled_ratio(observations.uncertainty**2, number)
    elif observations.bins >= 4:
        # A difference over four sizes removes a quadratic; what is left is noise.
        left = number[:, :-3] - 3.0 * number[:, 1:-2] + 3.0 * number[:, 2:-1] - number[:, 3:]
        mean = 0.25 * (number[:, :-3] + number[:, 1:-2] + number[:, 2:-1] + number[:, 3:])
        inner = _pooled_ratio(left**2 / 20.0, mean)
        ratio = np.concatenate([inner[:1], inner[:1], inner, inner[-1:]])
    else:
        ratio = np.full(observations.bins, np.nan)
    known = np.isfinite(ratio) & (ratio > 0.0)
    if not known.any():
        return np.full(observations.bins, 1e-3 * max(float(np.nanmax(number)), 1.0))
    positions = np.arange(observations.bins)
    return np.interp(positions, positions[known], ratio[known])


def _pooled_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Sum over scans and neighbouring sizes of one over that of the other; scans with spikes have little say."""
    there = np.isfinite(numerator) & np.isfinite(denominator)
    top = np.where(there, numerator, 0.0)
    below = np.where(there, denominator, 0.0)
    window = min(_WINDOW, top.shape[1])
    tops, mean = (uniform_filter1d(a, window, axis=1, mode="constant") for a in (top, below))
    used = mean > 1e-9 * max(float(mean.max()), 1e-300)
    ratios = np.where(used, tops / np.where(used, mean, 1.0), np.inf)
    # Disturbed scans stand out against the median of all; the others are pooled.
    middle = _median(ratios, used)
    kept = used & (ratios <= _OUTLIER * middle)
    below = np.where(kept, mean, 0.0).sum(axis=0)
    return np.where(below > 0.0, np.where(kept, tops, 0.0).sum(axis=0) / np.where(below > 0.0, below, 1.0), np.nan)


def _median(values: Floats, used: NDArray[np.bool_]) -> Floats:
    """Median of the used values of each column, infinite where there are none."""
    ordered = np.sort(np.where(used, values, np.inf), axis=0)
    middle = np.maximum(used.sum(axis=0) - 1, 0) // 2
    return np.take_along_axis(ordered, middle[None], axis=0)[0]


def _smooth(observations: Observations, scans: Ints) -> tuple[Floats, Floats]:
    """Numbers of some scans smoothed over ln D, and the slope of the logarithm of their spectrum."""
    ln_d, width = np.log(observations.diameters), np.diff(np.log(observations.edges))
    weights = np.exp(-0.5 * ((ln_d[:, None] - ln_d[None, :]) / _SMOOTHING) ** 2)
    spectrum = observations.number[scans] / width
    there = np.isfinite(spectrum)
    total = np.where(there, spectrum, 0.0) @ weights
    smoothed = np.maximum(total, 0.0) / np.maximum(there @ weights, 1e-12)
    floor = 1e-6 * np.maximum(smoothed.max(axis=1, keepdims=True), 1.0)
    logarithm = np.log(np.maximum(smoothed, floor))
    slope = np.gradient(logarithm, ln_d, axis=1) if ln_d.size > 1 else np.zeros_like(logarithm)
    return smoothed * width, slope
