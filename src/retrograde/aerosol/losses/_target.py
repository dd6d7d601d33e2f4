"""The target distribution of a loss, on its device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, to_device
from retrograde.aerosol.states import SectionalState

Floats = NDArray[np.float64]


def on_device(values: Floats, target: SectionalState) -> WarpArray:
    """Values in float64 on the device of the target."""
    return to_device(values, device=target.device)


def cumulative(target: SectionalState, divisor: Any) -> WarpArray:
    """Cumulative target at the bin edges over `divisor` [1], shape [boxes, bins + 1]."""
    sums = np.zeros((target.boxes, target.bins + 1))
    np.cumsum(target.numpy(), axis=1, out=sums[:, 1:])
    return on_device(sums / divisor, target)


def shape_divisor(target: SectionalState) -> Floats:
    """Total number of each target box [m^-3], shape [boxes, 1], summed in the order of the bins.

    Raises:
        ValueError: A box is empty and so has no shape.
    """
    totals = np.cumsum(target.numpy(), axis=1)[:, -1:]
    empty = np.flatnonzero(totals[:, 0] <= 0)
    if empty.size:
        raise ValueError(f"target [m^-3]: box {empty[0]} of shape {list(totals.shape[:1])} is empty and has no shape")
    return totals
