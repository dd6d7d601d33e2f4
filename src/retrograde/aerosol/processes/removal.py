"""Processes of first order in the number: dilution, and loss by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics import LossLaw
from retrograde.aerosol.processes.terms import Floats, Terms, no_terms
from retrograde.aerosol.states import Environment


@dataclass(frozen=True, eq=False)
class Dilution:
    """Exchange of the box's air with surrounding air: dn/dt = rate (background - n).

    Attributes:
        rate: Share of the box's air exchanged in a time [s^-1], a number or shape [boxes].
        background: Number concentration of the surrounding air [m^-3], shape [bins] or
            [boxes, bins]; None for clean air.

    Raises:
        ValueError: A value is negative or not finite, or a shape is not as described.
    """

    rate: ArrayLike
    background: Floats | None = None

    def __post_init__(self) -> None:
        rate = _checked("rate [s^-1]", self.rate)
        if rate.ndim > 1:
            raise ValueError(f"rate [s^-1]: expected a number or shape [boxes], got {list(rate.shape)}")
        object.__setattr__(self, "rate", rate)
        if self.background is not None:
            object.__setattr__(self, "background", _checked("background [m^-3]", self.background))

    def terms(self, grid: SizeGrid) -> Terms:
        """Loss at the same rate in every bin, and supply by the background.

        Raises:
            ValueError: The background's bins differ from the grid's.
        """
        removal = np.asarray(self.rate)[..., np.newaxis] * np.ones(grid.bins)
        supply = np.zeros(grid.bins)
        if self.background is not None:
            _check_bins("background [m^-3]", self.background, grid)
            supply = removal * self.background
        return Terms(coagulation=None, removal=removal, supply=supply)


@dataclass(frozen=True, eq=False)
class FirstOrderLoss:
    """Loss that depends on size, as to walls: dn/dt = -rate(size) n.

    Attributes:
        rate: Loss rate: a law of `retrograde.aerosol.physics`, or values [s^-1] of shape [bins] or
            [boxes, bins].
        environment: Air of every box, for a law that depends on it.

    Raises:
        ValueError: A value is negative or not finite, or a shape is not as described.
    """

    rate: Floats | LossLaw
    environment: Environment | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.rate, LossLaw):
            object.__setattr__(self, "rate", _checked("rate [s^-1]", self.rate))

    def terms(self, grid: SizeGrid) -> Terms:
        """Loss at each bin's own rate.

        Raises:
            ValueError: The rate's bins differ from the grid's.
        """
        rates = self._rates(grid)
        _check_bins("rate [s^-1]", rates, grid)
        return Terms(coagulation=None, removal=rates, supply=no_terms(grid.bins).supply)

    def _rates(self, grid: SizeGrid) -> Floats:
        if not isinstance(self.rate, LossLaw):
            return self.rate
        if self.environment is None:
            return self.rate.rates_numpy(grid)[0]
        return self.rate.for_boxes(grid, self.environment)


def _checked(field: str, value: ArrayLike) -> Floats:
    """The values as a read-only float64 array."""
    array = np.array(value, dtype=np.float64)
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ValueError(f"{field}: expected finite values that are not negative")
    array.setflags(write=False)
    return array


def _check_bins(field: str, array: Floats, grid: SizeGrid) -> None:
    if array.ndim not in (1, 2) or array.shape[-1] != grid.bins:
        raise ValueError(
            f"{field}: expected shape [bins] or [boxes, bins] with {grid.bins} bins on the grid, "
            f"got {list(array.shape)}"
        )
