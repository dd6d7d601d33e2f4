"""What the figures share: colours, units, axes."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

NANOMETRES = 1e9
PER_CUBIC_CENTIMETRE = 1e-6

BLUE, ORANGE, GREEN, BLACK, GREY = "#0072b2", "#d55e00", "#009e73", "black", "0.55"
"""Colours after Okabe and Ito (2008), which the colour-blind can tell apart; lines differ in their dashes too."""


def size_axis(axes: Axes) -> None:
    """A logarithmic horizontal axis of diameters in nm."""
    axes.set_xscale("log")
    axes.set_xlabel("diameter / nm")
    plain(axes.xaxis)


def vertical_size_axis(axes: Axes) -> None:
    """A logarithmic vertical axis of diameters in nm."""
    axes.set_yscale("log")
    axes.set_ylabel("diameter / nm")
    plain(axes.yaxis)


def plain(axis: Any) -> None:
    """Numbers at 1, 2 and 5 of every decade, written out."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def by_scan(recovery: Recovery) -> tuple[NDArray[np.intp], Floats, Floats, Floats, Floats]:
    """Measured and predicted spectra of all scans on one table.

    Returns:
        Scans [scans]; minutes since the recovered time [scans]; edges of the bins [nm], [bins + 1];
        measured and predicted dN/dlnD [cm^-3], [scans, bins], NaN where missing.
    """
    channels, observations = recovery.forecast.channels, recovery.case.observations
    scans, row = np.unique(channels.scans, return_inverse=True)
    bins = recovery.case.bins
    column = np.searchsorted(bins, channels.bins)
    tables: list[Floats] = []
    for values in (channels.number, recovery.forecast.predicted):
        table = np.full((scans.size, bins.size), np.nan)
        table[row, column] = values / channels.ln_widths * PER_CUBIC_CENTIMETRE
        tables.append(table)
    minutes = (observations.start[scans] - recovery.case.at) / np.timedelta64(1, "m")
    edges = observations.edges[bins[0] : bins[-1] + 2] * NANOMETRES
    return scans, minutes, edges, tables[0], tables[1]
