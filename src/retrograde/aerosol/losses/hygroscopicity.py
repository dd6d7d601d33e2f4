"""Distances of hygroscopicity: of the distribution of kappa, alone and jointly with size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import Float64, Float64Array, WarpArray, new_zeros, shape_of, wp
from retrograde.aerosol.composition.state import CompositionState
from retrograde.aerosol.losses.base import Operation
from retrograde.aerosol.losses.composition import CompositionLoss, Floats, Line, LineComparison, LineDistance


@dataclass(frozen=True, eq=False)
class KappaLoss(CompositionLoss):
    """Distance of the distributions of kappa, by number, of all sizes.

    Shapes are compared alone; a state with no particles counts as lying at the upper end, with zero gradient. Kinks
    and their derivatives are those of the loss of the same name on ln D.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.
        distance: Distance on the axis of kappa; its unit is that of kappa [1], for WASSERSTEIN2 squared.

    Raises:
        ValueError: The target holds values that are negative or not finite, or an empty box.
    """

    target: CompositionState
    distance: LineDistance = LineDistance.CRAMER
    _comparison: LineComparison = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.target.check_values()
        grid = self.target.grid
        line = Line.through(np.tile(grid.kappas, grid.bins))
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "_comparison", LineComparison(line, self.target, LineDistance(self.distance)))

    def _boxes(self) -> int:
        return self.target.boxes

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        return self._comparison.operations(number, loss, options)


@dataclass(frozen=True, eq=False)
class SizeKappaLoss(CompositionLoss):
    """Distance of the joint distributions of size and kappa, by number, sliced.

    The plane of ln D and kappa, each over its scale, is cut by lines of evenly spread directions; the distance is the
    mean of those of the distributions along the lines. Shapes are compared alone.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.
        distance: Distance along a line.
        slices: Number of directions, the axes of ln D and of kappa not among them.
        ln_diameter_scale: Difference in ln D that counts as one [1].
        kappa_scale: Difference in kappa that counts as one [1].

    Raises:
        ValueError: The target holds values that are negative or not finite, or an empty box; a scale or the number of
            slices is not positive.

    Source: Bonneel, Rabin, Peyre and Pfister (2015), Journal of Mathematical Imaging and Vision 51, 22,
    doi:10.1007/s10851-014-0506-3.
    """

    target: CompositionState
    distance: LineDistance = LineDistance.CRAMER
    slices: int = 8
    ln_diameter_scale: float = 1.0
    kappa_scale: float = 0.3
    _comparisons: tuple[LineComparison, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.target.check_values()
        check_positive("ln_diameter_scale", self.ln_diameter_scale, "1")
        check_positive("kappa_scale", self.kappa_scale, "1")
        if self.slices < 1:
            raise ValueError(f"slices: expected 1 or more, got {self.slices}")
        lines = [Line.through(positions) for positions in self._positions()]
        comparisons = tuple(LineComparison(line, self.target, LineDistance(self.distance)) for line in lines)
        object.__setattr__(self, "grid", self.target.grid)
        object.__setattr__(self, "_comparisons", comparisons)

    def _positions(self) -> Floats:
        """Positions of all cells along every direction [1], shape [slices, cells]."""
        grid = self.target.grid
        size = np.repeat(grid.sizes.ln_diameters, grid.fractions) / self.ln_diameter_scale
        kappa = np.tile(grid.kappas, grid.bins) / self.kappa_scale
        angles = np.pi * (np.arange(self.slices) + 0.5) / self.slices
        return np.cos(angles)[:, None] * size + np.sin(angles)[:, None] * kappa

    def _boxes(self) -> int:
        return self.target.boxes

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        chain: list[Operation] = []
        share = wp.float64(1.0 / self.slices)
        for comparison in self._comparisons:
            one = new_zeros(shape_of(loss)[0], **options)
            chain += comparison.operations(number, one, options)
            chain.append(Operation(add_share, shape_of(loss)[0], [one, share], [loss]))
        return chain


@wp.kernel
def add_share(values: Float64Array, share: Float64, total: Float64Array):
    """Add values times a share; launched over [boxes]."""
    box = wp.tid()
    total[box] += share * values[box]
