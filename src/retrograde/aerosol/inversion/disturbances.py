"""Scans that no process of the model can follow: number that rises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats.observations import Observations

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_RISE = 0.08
"""A scan whose number lies this much above an earlier level is disturbed, relative."""

_RISE_OF_CLASS = 0.1
"""The same for one third of the number, by size."""

_SCATTERS = 4.0
"""It must also lie this many times the scatter between scans above it."""


def disturbed_scans(observations: Observations, scans: Ints) -> Ints:
    """Those of some scans whose number, or that of the smallest third, lies above an earlier level.

    Coagulation, losses and dilution only lower the total, and the number of the smallest.
    The level is the lowest median of three neighbouring scans so far, so that one low scan does not
    condemn all that follow.

    Args:
        observations: The file.
        scans: Indices in the order of time.

    Returns:
        Indices of the disturbed ones.
    """
    if scans.size < 4:
        return scans[:0]
    number = observations.number[scans]
    number = np.where(np.isfinite(number), number, 0.0)
    cumulative = np.cumsum(np.asarray(number.mean(axis=0), dtype=np.float64))
    third = int(np.searchsorted(cumulative, float(cumulative[-1]) / 3.0))
    rises = _rises(number.sum(axis=1), _RISE) | _rises(number[:, : third + 1].sum(axis=1), _RISE_OF_CLASS)
    return scans[rises]


def _rises(total: Floats, least: float) -> NDArray[np.bool_]:
    """Whether each value lies above the lowest level before it."""
    total = np.maximum(total, 1e-300)
    middle = np.median(np.stack([total[:-2], total[1:-1], total[2:]]), axis=0)
    smooth = np.concatenate([[max(total[0], middle[0])], middle, [middle[-1]]])
    level = np.minimum.accumulate(smooth)
    change = np.diff(np.log(total))
    scatter = 1.4826 * float(np.median(np.abs(change - np.median(change)))) / np.sqrt(2.0)
    alone = np.log(total / level) > max(least, _SCATTERS * scatter)
    # A median of three scatters two thirds as much.
    together = np.log(smooth / level) > max(least, _SCATTERS * scatter * 0.67)
    return alone | together
