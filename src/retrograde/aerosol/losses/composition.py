"""What losses on composition-resolved states share: a target on a grid, and numbers laid out on a line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import (
    Float64,
    Float64Matrix,
    Float64Tensor,
    Int32,
    Int32Array,
    WarpArray,
    new_zeros,
    shape_of,
    to_device,
    to_host,
    wp,
)
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.state import CompositionState
from retrograde.aerosol.losses.base import Operation, StateLoss
from retrograde.aerosol.losses.cumulative import cumulate, cumulative_loss
from retrograde.aerosol.losses.transport import transport_loss

Floats = NDArray[np.float64]

_SAME = 1e-9
"""Positions nearer than this share of the line's length count as one."""


class CompositionLoss(StateLoss[CompositionState]):
    """A distance of composition-resolved states from what they should be; numbers have shape [boxes, rows, fractions].

    What has grown past the grid does not count.
    """

    grid: CompositionGrid

    def _check(self, state: CompositionState) -> None:
        if state.grid != self.grid:
            raise ValueError(f"state: its grid, {state.grid!r}, differs from the loss's, {self.grid!r}")
        if self._boxes() not in (1, state.boxes):
            raise ValueError(f"state: expected {self._boxes()} boxes as in the target, got {state.boxes}")

    def _boxes(self) -> int:
        """Boxes of the target; one target serves any number of boxes."""
        raise NotImplementedError


class LineDistance(Enum):
    """Distance of two distributions on a line, each divided by its total."""

    CRAMER = "cramer"
    """Integral of the squared difference of the cumulative distributions."""
    WASSERSTEIN1 = "wasserstein 1"
    """Mean way that number has to go."""
    WASSERSTEIN2 = "wasserstein 2"
    """Mean square of that way."""


@dataclass(frozen=True, eq=False)
class Line:
    """Cells laid out on a line by a position of each.

    Number at a position is spread evenly up to half way to its neighbours, so that distances are those of the losses on
    ln D, exact and finite everywhere.

    Attributes:
        edges: Edges around the positions, increasing, shape [positions + 1].
        cells: Cells in order of position, shape [cells].
        starts: Start of every position's cells, shape [positions + 1].
    """

    edges: Floats
    cells: NDArray[np.int32]
    starts: NDArray[np.int32]

    @classmethod
    def through(cls, positions: Floats) -> Line:
        """The line through positions of all cells, shape [cells]; equal ones are one."""
        order = np.argsort(positions, kind="stable")
        ordered = positions[order]
        gap = _SAME * max(float(ordered[-1] - ordered[0]), np.finfo(float).tiny)
        first = np.flatnonzero(np.diff(ordered, prepend=-np.inf) > gap)
        at = ordered[first]
        middle = 0.5 * (at[1:] + at[:-1])
        outer = (2.0 * at[0] - middle[0], 2.0 * at[-1] - middle[-1]) if len(at) > 1 else (at[0] - 0.5, at[0] + 0.5)
        starts = np.append(first, len(positions))
        return cls(np.concatenate([outer[:1], middle, outer[1:]]), order.astype(np.int32), starts.astype(np.int32))


class LineComparison:
    """Launches that compare the numbers on a line with a target's.

    Attributes:
        line: Cells on a line.
    """

    def __init__(self, line: Line, target: CompositionState, distance: LineDistance) -> None:
        self.line, self._distance = line, distance
        device: Any = target.device
        self._edges = to_device(line.edges, device=device)
        self._widths = to_device(np.diff(line.edges), device=device)
        self._cells = wp.array(line.cells, dtype=wp.int32, device=device)
        self._starts = wp.array(line.starts, dtype=wp.int32, device=device)
        operations, sums = self._cumulation(target.number, {"device": device, "requires_grad": False})
        for operation in operations:
            operation.run(record=False)
        totals = to_host(sums)
        empty = np.flatnonzero(totals[:, -1] <= 0)
        if empty.size:
            raise ValueError(f"target [m^-3]: box {empty[0]} of {target.boxes} is empty and has no shape")
        self._goal = to_device(totals / totals[:, -1:], device=device)

    def _cumulation(self, number: WarpArray, options: dict[str, Any]) -> tuple[list[Operation], WarpArray]:
        """Launches to the sums up to every edge [m^-3], shape [boxes, positions + 1]; a target's are the same ones."""
        boxes, positions = shape_of(number)[0], len(self.line.edges) - 1
        along, sums = new_zeros((boxes, positions), **options), new_zeros((boxes, positions + 1), **options)
        laid = Operation(lay_out, [boxes, positions], [number, self._cells, self._starts], [along])
        return [laid, Operation(cumulate, boxes, [along], [sums])], sums

    def operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        """Launches from numbers [boxes, rows, fractions] to losses [boxes]."""
        boxes = shape_of(number)[0]
        chain, sums = self._cumulation(number, options)
        if self._distance is LineDistance.WASSERSTEIN2:
            return [*chain, Operation(transport_loss, boxes, [sums, self._goal, self._edges], [loss])]
        power = 2 if self._distance is LineDistance.CRAMER else 1
        inputs = [sums, self._goal, self._widths, wp.float64(0.0), power]
        return [*chain, Operation(cumulative_loss, boxes, inputs, [loss])]


@wp.func
def number_at(
    number: Float64Tensor, cells: Int32Array, start: Int32, stop: Int32, fractions: Int32, box: Int32
) -> Float64:
    """Sum over the cells of one position [m^-3]."""
    total = wp.float64(0.0)
    for q in range(start, stop):
        total += number[box, cells[q] / fractions, cells[q] % fractions]
    return total


@wp.kernel
def lay_out(number: Float64Tensor, cells: Int32Array, starts: Int32Array, along: Float64Matrix):
    """Number at every position; launched over [boxes, positions]."""
    box, k = wp.tid()
    along[box, k] = number_at(number, cells, starts[k], starts[k + 1], number.shape[2], box)
