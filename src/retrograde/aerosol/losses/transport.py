"""Squared Wasserstein distance of order two on ln D, by the monotone map between distributions.

Number is spread evenly in ln D within each bin. The optimal map takes each quantile of the state to
the same quantile of the target; quantiles are piecewise linear, so the integral is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Int32,
    Vec4,
    WarpArray,
    new_zeros,
    shape_of,
    wp,
)
from retrograde.aerosol.losses._target import cumulative, on_device, shape_divisor
from retrograde.aerosol.losses.base import Operation, TargetLoss
from retrograde.aerosol.losses.cumulative import cumulate
from retrograde.aerosol.states import SectionalState

_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))
_TWO = wp.constant(wp.float64(2.0))
_THREE = wp.constant(wp.float64(3.0))


@dataclass(frozen=True, eq=False)
class Wasserstein2Loss(TargetLoss):
    """Squared Wasserstein distance of order two on ln D: mean square of the way number has to go [1].

    Shapes are compared alone: both distributions are divided by their totals. A state with no
    particles counts as lying at the grid's upper end, with zero gradient. In an empty bin the
    derivative is the one-sided one, of number being added, wherever a single quantile of the target
    answers it; inside a gap of the target at that very quantile the distance has a kink, and the
    derivative used is the smallest.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.

    Raises:
        ValueError: The target holds values that are negative or not finite, or an empty box.

    Source: Villani (2003), Topics in Optimal Transportation, section 2.2, doi:10.1090/gsm/058.
    """

    target: SectionalState
    _goal: WarpArray = field(init=False, repr=False)
    _positions: WarpArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.target.check_values()
        object.__setattr__(self, "_goal", cumulative(self.target, shape_divisor(self.target)))
        positions = np.concatenate([[0.0], np.cumsum(self.target.grid.ln_widths)])
        object.__setattr__(self, "_positions", on_device(positions, self.target))

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        boxes, bins = shape_of(number)
        sums = new_zeros((boxes, bins + 1), **options)
        return [
            Operation(cumulate, boxes, [number], [sums]),
            Operation(transport_loss, boxes, [sums, self._goal, self._positions], [loss]),
        ]


@wp.func
def _quantile(level: Float64, cell: Int32, goal: Float64Matrix, positions: Float64Array, row: Int32) -> Float64:
    """Position in a cell of the target that is not empty, at a level of its cumulative distribution."""
    share = (level - goal[row, cell]) / (goal[row, cell + 1] - goal[row, cell])
    return positions[cell] + share * (positions[cell + 1] - positions[cell])


@wp.func
def _carry(
    bin: Int32, low: Float64, high: Float64, cell: Int32, goal: Float64Matrix, positions: Float64Array, row: Int32
) -> Vec4:
    """Transport of the number between levels `low` < `high`, spread over one bin.

    Returns:
        Cost; integral of the slope 2 (x - T(x)) over the bin; mean over the bin of its integral from
        the bin's lower edge; and the cell of the target to go on from.
    """
    start = positions[bin]
    width = positions[bin + 1] - start
    cost = wp.float64(0.0)
    rise = wp.float64(0.0)
    mean = wp.float64(0.0)
    j = wp.int32(cell)
    level = wp.float64(low)
    while level < high and j < goal.shape[1] - 1:
        if goal[row, j + 1] > level:
            upper = wp.min(high, goal[row, j + 1])
            from_low = (level - low) / (high - low)
            from_high = (upper - low) / (high - low)
            d0 = start + width * from_low - _quantile(level, j, goal, positions, row)
            d1 = start + width * from_high - _quantile(upper, j, goal, positions, row)
            length = width * (from_high - from_low)
            rest0 = _ONE - from_low
            rest1 = _ONE - from_high
            cost += (upper - level) * (d0 * d0 + d0 * d1 + d1 * d1) / _THREE
            rise += length * (d0 + d1)
            mean += length * (_TWO * d0 * rest0 + d0 * rest1 + d1 * rest0 + _TWO * d1 * rest1) / _THREE
            level = upper
        if goal[row, j + 1] <= level:
            j += 1
    return wp.vec4d(cost, rise, mean, wp.float64(j))


@wp.func
def _answer(bin: Int32, level: Float64, cell: Int32, goal: Float64Matrix, positions: Float64Array, row: Int32) -> Vec4:
    """As `_carry`, for an empty bin at a level of the state's cumulative distribution; its cost is zero."""
    start = positions[bin]
    end = positions[bin + 1]
    cells = goal.shape[1] - 1
    j = wp.int32(cell)
    while j < cells and goal[row, j + 1] <= level:
        j += 1
    below = wp.int32(j)
    while below > 0 and goal[row, below - 1] >= level:
        below -= 1
    target_low = positions[below]
    target_high = positions[below]
    if j < cells:
        target_high = _quantile(level, j, goal, positions, row)
        if goal[row, j] < level or level <= _ZERO:
            target_low = target_high
    d0 = _ZERO
    d1 = _ZERO
    if target_low >= target_high or end <= target_low or start >= target_high:
        target = wp.where(end <= target_low, target_low, target_high)
        d0 = start - target
        d1 = end - target
    width = end - start
    return wp.vec4d(_ZERO, width * (d0 + d1), width * (_TWO * d0 + d1) / _THREE, wp.float64(j))


@wp.func
def _bin(
    bin: Int32, low: Float64, high: Float64, cell: Int32, goal: Float64Matrix, positions: Float64Array, row: Int32
) -> Vec4:
    if high > low:
        return _carry(bin, low, high, cell, goal, positions, row)
    return _answer(bin, low, cell, goal, positions, row)


@wp.func
def transport_cost(sums: Float64Matrix, goal: Float64Matrix, positions: Float64Array, box: Int32) -> Float64:
    """Integral of the squared difference of the quantile functions."""
    row = wp.min(box, goal.shape[0] - 1)
    bins = positions.shape[0] - 1
    divisor = sums[box, bins]
    total = wp.float64(0.0)
    cell = wp.int32(0)
    for i in range(bins):
        if divisor > _ZERO:
            step = _bin(i, sums[box, i] / divisor, sums[box, i + 1] / divisor, cell, goal, positions, row)
            total += step[0]
            cell = wp.int32(step[3])
        else:
            d0 = positions[bins] - positions[i]
            d1 = positions[bins] - positions[i + 1]
            total += (goal[row, i + 1] - goal[row, i]) * (d0 * d0 + d0 * d1 + d1 * d1) / _THREE
    return total


@wp.func_grad(transport_cost)
def adjoint_transport_cost(
    sums: Float64Matrix, goal: Float64Matrix, positions: Float64Array, box: Int32, cotangent: Float64
):
    """Differences of the Kantorovich potential between neighbouring bins, at the edge they share."""
    row = wp.min(box, goal.shape[0] - 1)
    bins = positions.shape[0] - 1
    divisor = sums[box, bins]
    weighted = wp.float64(0.0)
    drop = wp.float64(0.0)
    cell = wp.int32(0)
    if divisor > _ZERO:
        for i in range(bins):
            step = _bin(i, sums[box, i] / divisor, sums[box, i + 1] / divisor, cell, goal, positions, row)
            if i > 0:
                slope = drop - step[2]
                wp.adjoint[sums][box, i] += slope / divisor * cotangent
                weighted += slope * sums[box, i] / divisor
            drop = step[2] - step[1]
            cell = wp.int32(step[3])
        wp.adjoint[sums][box, bins] += -weighted / divisor * cotangent


@wp.kernel
def transport_loss(sums: Float64Matrix, goal: Float64Matrix, positions: Float64Array, loss: Float64Array):
    """Launched over [boxes]."""
    box = wp.tid()
    loss[box] = transport_cost(sums, goal, positions, box)
