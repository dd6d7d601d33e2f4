"""Processes of first order in the number: dilution, and loss by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes.terms import Floats, Terms, no_terms


@dataclass(frozen=True)
class Dilution:
    """Exchange of the box's air with surrounding air: dn/dt = rate (background - n).

    Attributes:
        rate: Exchanged share of the box's air in a time [s^-1], a number or shape [boxes].
        background: Number concentration of the surrounding air [m^-3], shape [bins] or
            [boxes, bins]; None for clean air.
    """

    rate: ArrayLike
    background: Floats | None = None

    def __post_init__(self) -> None:
        rate = _checked("rate [s^-1]", self.rate)
        if rate.ndim > 1:
            raise ValueError(f"rate [s^-1] must be a number or have shape [boxes], got {list(rate.shape)}")
        object.__setattr__(self, "rate", rate)
        if self.background is not None:
            background = _checked("background [m^-3]", self.background)
            object.__setattr__(self, "background", background)

    def terms(self, grid: SizeGrid) -> Terms:
        """Loss at the same rate in every bin, and supply by the background.

        Raises:
            ValueError: The background's bins differ from the grid's.
        """
        rate = np.asarray(self.rate)
        removal = rate * np.ones(grid.bins) if rate.ndim == 0 else np.outer(rate, np.ones(grid.bins))
        supply = np.zeros(grid.bins)
        if self.background is not None:
            _check_bins("background [m^-3]", self.background, grid)
            supply = removal * self.background
        return Terms(coagulation=None, removal=removal, supply=supply)


@dataclass(frozen=True)
class FirstOrderLoss:
    """Loss that depends on size, as to walls: dn/dt = -rate(size) n.

    Attributes:
        rate: Loss rate [s^-1], shape [bins] or [boxes, bins].
    """

    rate: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _checked("rate [s^-1]", self.rate))

    def terms(self, grid: SizeGrid) -> Terms:
        """Loss at each bin's own rate.

        Raises:
            ValueError: The rate's bins differ from the grid's.
        """
        _check_bins("rate [s^-1]", self.rate, grid)
        nothing = no_terms(grid.bins)
        return Terms(coagulation=None, removal=self.rate, supply=nothing.supply)


def _checked(field: str, value: ArrayLike) -> Floats:
    """The values as a read-only float64 array."""
    array = np.array(value, dtype=np.float64)
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ValueError(f"{field} must be finite and not negative")
    array.setflags(write=False)
    return array


def _check_bins(field: str, array: Floats, grid: SizeGrid) -> None:
    if array.ndim not in (1, 2) or array.shape[-1] != grid.bins:
        raise ValueError(
            f"{field} must have shape [bins] or [boxes, bins] with {grid.bins} bins, got {list(array.shape)}"
        )
