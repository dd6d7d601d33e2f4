"""Coagulation of a size distribution on a sectional grid, for any symmetric kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes._pairs import (
    PairGeometry,
    cell_average_pairs,
    fixed_pivot_pairs,
)
from retrograde.aerosol.processes.terms import (
    CoagulationTerms,
    Floats,
    Scheme,
    Terms,
    no_terms,
)


@dataclass(frozen=True)
class CoagulationFixedPivot:
    """Smoluchowski's equation by the fixed pivot technique.

    A product between two pivots is shared between them so that its number and its volume are both
    kept. The weights depend on the grid alone, so that the tendency is quadratic in the numbers
    and smooth. On coarse grids the upper tail is too heavy: the error is of second order in the
    spacing. Volume that grows past the last pivot leaves the grid and is counted.

    Kumar and Ramkrishna (1996), doi:10.1016/0009-2509(96)88489-2.

    Attributes:
        kernel: Coagulation kernel [m^3 s^-1], shape [bins, bins] where all boxes share it,
            [boxes, bins, bins] where each has its own. Symmetric, finite, not negative.
    """

    kernel: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", _checked_kernel(self.kernel))

    def terms(self, grid: SizeGrid) -> Terms:
        """Quadratic tendency on `grid`.

        Raises:
            ValueError: The kernel's bins differ from the grid's.
        """
        _check_bins(self.kernel, grid)
        pairs = fixed_pivot_pairs(np.asarray(grid.volumes, dtype=np.float64))
        return _terms(Scheme.FIXED_PIVOT, self.kernel, grid, pairs)


@dataclass(frozen=True)
class CoagulationCellAverage:
    """Smoluchowski's equation by the cell average technique.

    All products that fall in a cell are given to its pivot and the next one by their mean volume.
    About half the error of the fixed pivot technique, and of the same order; where a cell's mean
    passes its pivot the tendency has a kink, and its derivative there is the one of a mean above
    the pivot. Volume that grows past the last edge leaves the grid and is counted.

    Kumar, Peglow, Warnecke, Heinrich and Moerl (2006), doi:10.1016/j.ces.2005.12.014.

    Attributes:
        kernel: Coagulation kernel [m^3 s^-1], shape [bins, bins] where all boxes share it,
            [boxes, bins, bins] where each has its own. Symmetric, finite, not negative.
    """

    kernel: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", _checked_kernel(self.kernel))

    def terms(self, grid: SizeGrid) -> Terms:
        """Piecewise quadratic tendency on `grid`.

        Raises:
            ValueError: The kernel's bins differ from the grid's.
        """
        _check_bins(self.kernel, grid)
        volumes = np.asarray(grid.volumes, dtype=np.float64)
        pairs = cell_average_pairs(volumes, np.asarray(grid.edges, dtype=np.float64))
        return _terms(Scheme.CELL_AVERAGE, self.kernel, grid, pairs)


def _terms(scheme: Scheme, kernel: Floats, grid: SizeGrid, pairs: PairGeometry) -> Terms:
    nothing = no_terms(grid.bins)
    coagulation = CoagulationTerms(scheme=scheme, pairs=pairs, kernel=kernel)
    return Terms(coagulation=coagulation, removal=nothing.removal, supply=nothing.supply)


def _checked_kernel(kernel: Floats) -> Floats:
    """The kernel as a read-only float64 array."""
    array = np.array(kernel, dtype=np.float64)
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
        raise ValueError(
            f"kernel [m^3 s^-1] must have shape [bins, bins] or [boxes, bins, bins], got {list(array.shape)}"
        )
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ValueError("kernel [m^3 s^-1] must be finite and not negative")
    if not np.allclose(array, np.swapaxes(array, -1, -2), rtol=1e-12, atol=0.0):
        raise ValueError("kernel [m^3 s^-1] must be symmetric in its two bins")
    array.setflags(write=False)
    return array


def _check_bins(kernel: Floats, grid: SizeGrid) -> None:
    if kernel.shape[-1] != grid.bins:
        raise ValueError(f"kernel [m^3 s^-1] has shape {list(kernel.shape)}, but the grid has {grid.bins} bins")
