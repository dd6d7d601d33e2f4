"""Coagulation of a size distribution on a sectional grid, for any symmetric kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics import CoagulationKernel
from retrograde.aerosol.processes._pairs import PairGeometry, cell_average_pairs, fixed_pivot_pairs
from retrograde.aerosol.processes.terms import CoagulationTerms, Floats, Scheme, Terms, no_terms
from retrograde.aerosol.states import Environment


@dataclass(frozen=True, eq=False)
class Coagulation(ABC):
    """Smoluchowski's equation by a technique that keeps number and volume of every event.

    Volume that grows past the grid's top leaves the grid and is counted.

    Attributes:
        kernel: Coagulation kernel: one of `retrograde.aerosol.physics`, or a table [m^3 s^-1] of
            shape [bins, bins] where all boxes share it, [boxes, bins, bins] where each has its
            own; symmetric, finite, not negative.
        environment: Air of every box, for a kernel that depends on it. Boxes share one table where
            their environments are equal.

    Raises:
        ValueError: A table is not as described; the message names shape and unit.
    """

    kernel: Floats | CoagulationKernel
    environment: Environment | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, CoagulationKernel):
            object.__setattr__(self, "kernel", _checked_table(self.kernel))

    def terms(self, grid: SizeGrid) -> Terms:
        """What coagulation adds to the tendency on `grid`.

        Raises:
            ValueError: The table's bins differ from the grid's, or the grid has fewer than two.
        """
        if grid.bins < 2:
            raise ValueError("grid: coagulation needs at least 2 bins, got 1")
        scheme, pairs = self._geometry(grid)
        nothing = no_terms(grid.bins)
        coagulation = CoagulationTerms(scheme=scheme, pairs=pairs, kernel=self._table(grid))
        return Terms(coagulation=coagulation, removal=nothing.removal, supply=nothing.supply)

    @abstractmethod
    def _geometry(self, grid: SizeGrid) -> tuple[Scheme, PairGeometry]: ...

    def _table(self, grid: SizeGrid) -> Floats:
        """Kernel table of shape [bins, bins], or [boxes, bins, bins] where boxes differ."""
        if not isinstance(self.kernel, CoagulationKernel):
            if self.kernel.shape[-1] != grid.bins:
                raise ValueError(
                    f"kernel [m^3 s^-1]: has shape {list(self.kernel.shape)}, but the grid has {grid.bins} bins"
                )
            return self.kernel
        if self.environment is None:
            return self.kernel.matrix_numpy(grid)[0]
        return self.kernel.for_boxes(grid, self.environment)


@dataclass(frozen=True, eq=False)
class CoagulationFixedPivot(Coagulation):
    """Coagulation by the fixed pivot technique.

    A product between two pivots is shared between them so that its number and its volume are both
    kept. The weights depend on the grid alone, so that the tendency is quadratic in the numbers
    and smooth. The upper tail is too heavy on coarse grids, by an error of second order in the
    spacing.

    Kumar and Ramkrishna (1996), doi:10.1016/0009-2509(96)88489-2.
    """

    def _geometry(self, grid: SizeGrid) -> tuple[Scheme, PairGeometry]:
        return Scheme.FIXED_PIVOT, fixed_pivot_pairs(grid.volumes)


@dataclass(frozen=True, eq=False)
class CoagulationCellAverage(Coagulation):
    """Coagulation by the cell average technique.

    All products that fall in a cell are given to its pivot and the next one by their mean volume.
    The error is smaller than that of the fixed pivot technique and of the same order. Where a
    cell's mean passes its pivot the tendency has a kink; its derivative there, and in a cell that
    nothing falls in, is the one of a mean above the pivot.

    Kumar, Peglow, Warnecke, Heinrich and Moerl (2006), doi:10.1016/j.ces.2005.12.014.
    """

    def _geometry(self, grid: SizeGrid) -> tuple[Scheme, PairGeometry]:
        return Scheme.CELL_AVERAGE, cell_average_pairs(grid.volumes, grid.edges)


def _checked_table(kernel: Floats) -> Floats:
    """The table as a read-only float64 array."""
    table = np.array(kernel, dtype=np.float64)
    if table.ndim not in (2, 3) or table.shape[-1] != table.shape[-2]:
        raise ValueError(
            f"kernel [m^3 s^-1]: expected shape [bins, bins] or [boxes, bins, bins], got {list(table.shape)}"
        )
    if not np.all(np.isfinite(table)) or np.any(table < 0.0):
        raise ValueError("kernel [m^3 s^-1]: expected finite values that are not negative")
    if not np.allclose(table, np.swapaxes(table, -1, -2), rtol=1e-12, atol=0.0):
        raise ValueError("kernel [m^3 s^-1]: expected a table that is symmetric in its two bins")
    table.setflags(write=False)
    return table
