"""Squared difference of composition-resolved states, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from retrograde.aerosol._device import WarpArray, shape_of, to_device, to_host
from retrograde.aerosol.composition.state import CompositionState
from retrograde.aerosol.losses.base import Operation
from retrograde.aerosol.losses.composition import CompositionLoss
from retrograde.aerosol.losses.l2 import l2_loss


@dataclass(frozen=True, eq=False)
class CellLoss(CompositionLoss):
    """Sum over the cells of size and composition of ((number - target) / scale)^2.

    With `scale` the standard error of an observed number, it is that observation's chi-squared.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.
        scale: Difference in a cell's number that counts as one [m^-3], a number or shape [bins, fractions].

    Raises:
        ValueError: A scale is not positive, or has another shape; the target holds negative or non-finite values.
    """

    target: CompositionState
    scale: ArrayLike
    _goal: WarpArray = field(init=False, repr=False)
    _weights: WarpArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.target.check_values()
        grid, device = self.target.grid, self.target.device
        scale = np.asarray(self.scale, dtype=np.float64)
        if scale.shape not in ((), (grid.bins, grid.fractions)) or not (np.isfinite(scale).all() and (scale > 0).all()):
            raise ValueError(
                f"scale [m^-3]: expected positive values, one or of shape {[grid.bins, grid.fractions]}, "
                f"got shape {list(scale.shape)}"
            )
        weights = np.zeros((grid.rows, grid.fractions))
        weights[:-1] = 1.0 / scale**2
        object.__setattr__(self, "grid", grid)
        goal = to_host(self.target.number).reshape(self.target.boxes, grid.cells)
        object.__setattr__(self, "_goal", to_device(goal, device=device))
        object.__setattr__(self, "_weights", to_device(weights.reshape(-1), device=device))

    def _boxes(self) -> int:
        return self.target.boxes

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        boxes = shape_of(loss)[0]
        untyped: Any = number
        by_cell = untyped.reshape((boxes, self.target.grid.cells))
        return [Operation(l2_loss, boxes, [by_cell, self._goal, self._weights], [loss])]
