"""Size grids: the pivots and edges on which a sectional state holds its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LARGEST_DIAMETER = 1e-2
"""Largest diameter that a constructor taking diameters accepts [m]; nm or um passed as m exceed it."""


@dataclass(frozen=True, eq=False)
class SizeGrid:
    """Size bins by particle volume.

    Each bin has a pivot, the volume of the particles that it stands for, and two edges around it.
    Grids are compared by value and may serve as dictionary keys.

    Attributes:
        volumes: Pivot volumes, strictly increasing [m^3], shape [bins].
        edges: Bin edges, strictly increasing, each pivot between its two [m^3], shape [bins + 1].

    Raises:
        ValueError: A shape, sign or order is not as described; the message names the field.
    """

    volumes: Floats
    edges: Floats

    def __post_init__(self) -> None:
        volumes = _increasing("volumes", self.volumes, "[m^3]")
        edges = _increasing("edges", self.edges, "[m^3]")
        if edges.shape[0] != volumes.shape[0] + 1:
            raise ValueError(
                f"edges: expected shape [bins + 1] = [{volumes.shape[0] + 1}] for {volumes.shape[0]} volumes, "
                f"got [{edges.shape[0]}]"
            )
        outside = np.flatnonzero((volumes <= edges[:-1]) | (volumes >= edges[1:]))
        if outside.size:
            i = int(outside[0])
            raise ValueError(
                f"edges [m^3]: volumes[{i}] = {volumes[i]:g} does not lie between edges[{i}] = {edges[i]:g} "
                f"and edges[{i + 1}] = {edges[i + 1]:g}"
            )
        object.__setattr__(self, "volumes", volumes)
        object.__setattr__(self, "edges", edges)

    @classmethod
    def geometric(cls, lowest_diameter: float, highest_diameter: float, *, bins_per_decade: float) -> SizeGrid:
        """Pivots at equal ratios, from `lowest_diameter` to the first one not below `highest_diameter`.

        Args:
            lowest_diameter: Diameter of the first pivot [m].
            highest_diameter: Diameter that the last pivot reaches [m].
            bins_per_decade: Pivots per factor of ten in diameter.
        """
        lowest, highest = _diameters("lowest_diameter, highest_diameter", [lowest_diameter, highest_diameter])
        if not (np.isfinite(bins_per_decade) and bins_per_decade > 0):
            raise ValueError(f"bins_per_decade: expected a positive number, got {bins_per_decade}")
        intervals = float(np.log10(highest / lowest)) * bins_per_decade
        bins = int(np.ceil(intervals * (1 - 1e-12))) + 1
        return cls.from_ratio(volume_of(lowest), 10.0 ** (3.0 / bins_per_decade), max(bins, 2))

    @classmethod
    def from_ratio(cls, lowest_volume: float, volume_ratio: float, bins: int) -> SizeGrid:
        """`bins` pivots from `lowest_volume` [m^3] on, each `volume_ratio` times the one before."""
        if not (np.isfinite(volume_ratio) and volume_ratio > 1):
            raise ValueError(f"volume_ratio: expected a number above 1, got {volume_ratio}")
        if bins < 1:
            raise ValueError(f"bins: expected at least 1, got {bins}")
        exponents = np.arange(bins, dtype=np.float64)
        return cls(lowest_volume * volume_ratio**exponents, _ratio_edges(lowest_volume, volume_ratio, bins))

    @classmethod
    def from_volumes(cls, volumes: Any, edges: Any | None = None) -> SizeGrid:
        """Grid on given pivots.

        Args:
            volumes: Pivot volumes, strictly increasing [m^3], shape [bins].
            edges: Bin edges [m^3], shape [bins + 1]. By default the geometric means of neighbouring
                pivots, the outermost two mirrored about their pivots.
        """
        pivots = _increasing("volumes", volumes, "[m^3]")
        return cls(pivots, _geometric_edges(pivots) if edges is None else edges)

    @classmethod
    def from_diameters(cls, diameters: Any, edges: Any | None = None) -> SizeGrid:
        """Grid on pivot diameters [m], shape [bins], and edge diameters [m], shape [bins + 1]."""
        pivots = volume_of(_diameters("diameters", diameters))
        return cls.from_volumes(pivots, None if edges is None else volume_of(_diameters("edges", edges)))

    @classmethod
    def from_masses(cls, masses: Any, density: float, edges: Any | None = None) -> SizeGrid:
        """Grid on pivot masses [kg] of particles of one density [kg m^-3]; `edges` are masses too."""
        if not (np.isfinite(density) and density > 0):
            raise ValueError(f"density [kg m^-3]: expected a positive number, got {density}")
        pivots = _increasing("masses", masses, "[kg]") / density
        return cls.from_volumes(pivots, None if edges is None else _increasing("edges", edges, "[kg]") / density)

    @property
    def bins(self) -> int:
        """Number of bins."""
        return int(self.volumes.shape[0])

    @property
    def diameters(self) -> Floats:
        """Diameters of spheres of the pivot volumes [m], shape [bins]."""
        return diameter_of(self.volumes)

    @property
    def diameter_edges(self) -> Floats:
        """Diameters at the bin edges [m], shape [bins + 1]."""
        return diameter_of(self.edges)

    @property
    def ln_diameters(self) -> Floats:
        """Natural logarithm of the pivot diameters in metres [1], shape [bins]."""
        return np.log(self.diameters)

    @property
    def ln_widths(self) -> Floats:
        """Widths of the bins in ln D [1], shape [bins]."""
        return np.diff(np.log(self.edges)) / 3.0

    @property
    def log10_widths(self) -> Floats:
        """Widths of the bins in log10 D [1], shape [bins]."""
        return self.ln_widths / np.log(10.0)

    @property
    def volume_ratio(self) -> float | None:
        """Ratio of neighbouring pivots where it is one number to 1e-9 relative, else None."""
        if self.bins < 2:
            return None
        ratios = self.volumes[1:] / self.volumes[:-1]
        mean = float(ratios.mean())
        return mean if bool(np.all(np.abs(ratios - mean) <= 1e-9 * mean)) else None

    def masses(self, density: float) -> Floats:
        """Masses of particles of the pivot volumes [kg], shape [bins], at `density` [kg m^-3]."""
        return self.volumes * density

    def extended_upward(self, highest_diameter: float) -> SizeGrid:
        """This grid with bins added above, at the last ratio, until a pivot reaches `highest_diameter` [m].

        Coagulation fills sizes above those observed; the bins of this grid keep their indices.
        """
        if self.bins < 2:
            raise ValueError("extended_upward: expected a grid of at least 2 bins, got 1")
        target = float(volume_of(_diameters("highest_diameter", [highest_diameter]))[0])
        ratio = float(self.volumes[-1] / self.volumes[-2])
        extra = int(np.ceil(np.log(target / self.volumes[-1]) / np.log(ratio) * (1 - 1e-12)))
        if extra <= 0:
            return self
        added = self.volumes[-1] * ratio ** np.arange(1, extra + 1, dtype=np.float64)
        between = np.sqrt(added[:-1] * added[1:])
        edges = np.concatenate([self.edges, between, [added[-1] * np.sqrt(ratio)]])
        return SizeGrid(np.concatenate([self.volumes, added]), edges)

    def index_of(self, diameter: float) -> int:
        """Bin whose edges enclose `diameter` [m]; a ValueError if none does."""
        i = int(np.searchsorted(self.diameter_edges, diameter, side="right")) - 1
        if not 0 <= i < self.bins:
            low, high = self.diameter_edges[[0, -1]]
            raise ValueError(f"diameter [m]: {diameter:g} lies outside the grid, {low:g} to {high:g}")
        return i

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SizeGrid):
            return NotImplemented
        return np.array_equal(self.volumes, other.volumes) and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash((self.volumes.tobytes(), self.edges.tobytes()))

    def __repr__(self) -> str:
        low, high = self.diameters[[0, -1]]
        return f"SizeGrid({self.bins} bins, pivots {low:.4g} to {high:.4g} m in diameter)"


def volume_of(diameter: Any) -> Any:
    """Volume of a sphere [m^3] of the given diameter [m]."""
    return np.pi / 6.0 * np.asarray(diameter, dtype=np.float64) ** 3


def diameter_of(volume: Any) -> Any:
    """Diameter of a sphere [m] of the given volume [m^3]."""
    return np.cbrt(6.0 / np.pi * np.asarray(volume, dtype=np.float64))


def _increasing(name: str, values: Any, unit: str) -> Floats:
    """Copy of a positive, strictly increasing 1-D array, read-only."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} {unit}: expected shape [n] with n >= 1, got {list(array.shape)}")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if wrong.size:
        raise ValueError(f"{name} {unit}: expected finite positive values, got {array[wrong[0]]} at index {wrong[0]}")
    falls = np.flatnonzero(np.diff(array) <= 0)
    if falls.size:
        i = int(falls[0])
        raise ValueError(
            f"{name} {unit}: expected strictly increasing values, got {array[i]:g} then {array[i + 1]:g} "
            f"at indices {i} and {i + 1}"
        )
    array.flags.writeable = False
    return array


def _diameters(name: str, values: Sequence[float] | Any) -> Floats:
    """Increasing diameters [m], refused where only another unit explains their size."""
    array = _increasing(name, values, "[m]")
    if array[-1] > LARGEST_DIAMETER:
        raise ValueError(f"{name} [m]: {array[-1]:g} m is no particle; were the diameters given in nm or um?")
    return array


def _geometric_edges(pivots: Floats) -> Floats:
    if pivots.size < 2:
        raise ValueError("volumes: a grid of 1 bin needs its edges given")
    inner = np.sqrt(pivots[:-1] * pivots[1:])
    return np.concatenate([[pivots[0] ** 2 / inner[0]], inner, [pivots[-1] ** 2 / inner[-1]]])


def _ratio_edges(lowest: float, ratio: float, bins: int) -> Floats:
    return lowest * ratio ** (np.arange(bins + 1, dtype=np.float64) - 0.5)
