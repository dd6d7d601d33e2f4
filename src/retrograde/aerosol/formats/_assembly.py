"""What every reader does with its scans at the end: their order, and the file's own totals as a check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats.errors import FormatError

Floats = NDArray[np.float64]

_NOTED, _REFUSED = 0.01, 0.5


def check_total(
    path: Path | None, number: Floats, total: Floats | None, notes: list[str], *, measured: bool = True
) -> None:
    """Hold the sums of the bins against the file's totals; note a small difference, refuse a large one.

    A spectrum of another kind or unit than it was taken for is off by a factor ln 10 or more.

    Args:
        path: File, for the message.
        number: Number in each bin [m^-3], shape [scans, bins].
        total: The file's totals [m^-3], shape [scans], or None.
        notes: Where a small difference is noted.
        measured: Whether the numbers are the file's own, not made from counts.

    Raises:
        FormatError: The median ratio is off by more than a factor of 1.5.
    """
    if total is None:
        return
    usable = np.isfinite(total) & (total > 0.0) & np.any(np.isfinite(number), axis=1)
    if not np.any(usable):
        return
    ratios = np.nansum(number[usable], axis=1) / total[usable]
    ratio = float(np.median(ratios))
    if measured and abs(np.log(max(ratio, 1e-300))) > np.log1p(_REFUSED):
        raise FormatError(
            path,
            None,
            None,
            f"the bins add up to {ratio:.3g} times the file's own total: wrong kind or unit of numbers",
        )
    worst = float(np.max(np.abs(ratios - 1.0)))
    if worst > _NOTED:
        notes.append(f"The bins add up to {ratio:.3g} times the file's total (off by up to {100.0 * worst:.2g} %).")


def time_order(start: NDArray[np.datetime64], notes: list[str]) -> NDArray[np.intp]:
    """Indices that put the scans in the order of time; noted where they were not."""
    order = np.argsort(start, kind="stable")
    if np.any(np.diff(order) != 1):
        notes.append("Scans were put in the order of time; a clock that was set back looks like this.")
    return order


def note_negative(number: Floats, notes: list[str]) -> None:
    """Note negative numbers, which an instrument's own inversion may give and readers keep."""
    if np.any(number < 0.0):
        notes.append(f"{np.sum(number < 0.0)} numbers are negative, and were left so.")
