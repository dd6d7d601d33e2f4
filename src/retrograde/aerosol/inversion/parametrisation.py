"""The unknown of an inversion: the logarithm of the initial spectrum at knots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]

SMALLEST = 1.0
"""Spectrum that stands for an empty size in a first guess, dN/dlnD [m^-3]: a particle in a cubic metre."""


@dataclass(frozen=True, eq=False)
class LogKnots:
    """The initial spectrum as a cubic spline through its logarithm at knots.

    The unknown x is ln(dN/dlnD / 1 m^-3) at the knots, dimensionless, so that every number is
    positive whatever x is. Between the knots x is a natural cubic spline in ln D; bins above or
    below the outermost knots hold no particles at the start.

    Attributes:
        grid: Size bins of the model.
        diameters: Knots, strictly increasing [m], shape [knots].
        basis: d (ln spectrum of a bin) / d (x of a knot) [1], shape [bins, knots]; zero outside.
        inside: Bins that hold particles at the start, shape [bins].

    Raises:
        ValueError: There are fewer than four knots, or they do not increase or lie outside the grid.
    """

    grid: SizeGrid
    diameters: Floats
    basis: Floats = field(init=False, repr=False)
    inside: NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        knots = np.array(self.diameters, dtype=np.float64)
        if knots.ndim != 1 or knots.size < 4 or not np.all(np.isfinite(knots)) or np.any(np.diff(knots) <= 0.0):
            raise ValueError("diameters [m]: expected at least 4 finite, increasing knots, shape [knots]")
        low, high = self.grid.diameter_edges[[0, -1]]
        if knots[0] < low or knots[-1] > high:
            raise ValueError(
                f"diameters [m]: the knots reach from {knots[0]:.4g} to {knots[-1]:.4g} m, "
                f"the grid from {low:.4g} to {high:.4g} m"
            )
        pivots = self.grid.diameters
        tolerance = 1e-9
        inside = (pivots >= knots[0] * (1 - tolerance)) & (pivots <= knots[-1] * (1 + tolerance))
        basis = np.where(inside[:, None], _natural_splines(np.log(knots), np.log(pivots)), 0.0)
        for name, value in (("diameters", knots), ("basis", basis), ("inside", inside)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def even(cls, grid: SizeGrid, lowest: float, highest: float, per_decade: float) -> LogKnots:
        """Knots at equal ratios from the pivot nearest `lowest` to that nearest `highest` [m]."""
        pivots = grid.diameters
        first, last = (pivots[np.argmin(np.abs(np.log(pivots / d)))] for d in (lowest, highest))
        count = max(int(np.ceil(np.log10(last / first) * per_decade)) + 1, 4)
        return cls(grid, first * (last / first) ** np.linspace(0.0, 1.0, count))

    @property
    def knots(self) -> int:
        """Number of unknowns."""
        return int(self.diameters.size)

    @property
    def spacing(self) -> Floats:
        """Distances between neighbouring knots in ln D [1], shape [knots - 1]."""
        return np.diff(np.log(self.diameters))

    def number(self, x: Floats) -> Floats:
        """Number in each bin [m^-3], shape [..., bins], of unknowns of shape [..., knots]."""
        number: Floats = np.where(self.inside, np.exp(x @ self.basis.T) * self.grid.ln_widths, 0.0)
        return number

    def from_spectrum(self, spectrum: Floats) -> Floats:
        """Unknowns nearest to a spectrum, by least squares in the logarithm.

        Args:
            spectrum: dN/dlnD of the bins [m^-3], shape [..., bins]; what is not above `SMALLEST` counts as that.

        Returns:
            Unknowns, shape [..., knots].
        """
        logarithm = np.log(np.maximum(spectrum, SMALLEST))[..., self.inside]
        inverse: Any = np.linalg.pinv(self.basis[self.inside])
        x: Floats = logarithm @ inverse.T
        return x


def _natural_splines(knots: Floats, places: Floats) -> Floats:
    """Cubic splines that are one at a knot and zero at the others, and of no curvature at the outermost.

    By their second derivatives at the knots (C. de Boor, A Practical Guide to Splines, 1978, chapter 4,
    doi:10.1007/978-1-4612-6333-3), as `scipy.interpolate` has them, which takes a while to import.

    Args:
        knots: Increasing places, shape [knots].
        places: Where the splines are wanted, between the first knot and the last, shape [places].

    Returns:
        Values, shape [places, knots].
    """
    widths = np.diff(knots)
    slopes = np.diff(np.eye(knots.size), axis=0) / widths[:, None]
    within = (
        np.diag((widths[:-1] + widths[1:]) / 3.0) + np.diag(widths[1:-1] / 6.0, 1) + np.diag(widths[1:-1] / 6.0, -1)
    )
    curvature = np.zeros((knots.size, knots.size))
    curvature[1:-1] = np.linalg.solve(within, np.diff(slopes, axis=0))
    left = np.clip(np.searchsorted(knots, places, side="right") - 1, 0, knots.size - 2)
    width = widths[left]
    b = (places - knots[left]) / width
    a = 1.0 - b
    values = np.zeros((places.size, knots.size))
    rows = np.arange(places.size)
    values[rows, left] += a
    values[rows, left + 1] += b
    bend_left, bend_right = ((c**3 - c) * width**2 / 6.0 for c in (a, b))
    return values + bend_left[:, None] * curvature[left] + bend_right[:, None] * curvature[left + 1]
