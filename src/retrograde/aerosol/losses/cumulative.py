"""Distances of cumulative size distributions: Cramer's, and the Wasserstein distance of order one.

Number is spread evenly in ln D within each bin, so that cumulative distributions are linear between
edges and the integrals over ln D are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import Float64, Float64Array, Float64Matrix, Int32, WarpArray, new_zeros, shape_of, wp
from retrograde.aerosol.losses._target import cumulative, on_device, shape_divisor
from retrograde.aerosol.losses.base import Operation, TargetLoss
from retrograde.aerosol.states import SectionalState

_ZERO = wp.constant(wp.float64(0.0))
_HALF = wp.constant(wp.float64(0.5))
_ONE = wp.constant(wp.float64(1.0))
_MINUS_ONE = wp.constant(wp.float64(-1.0))
_MINUS_HALF = wp.constant(wp.float64(-0.5))
_TWO = wp.constant(wp.float64(2.0))
_THREE = wp.constant(wp.float64(3.0))


@dataclass(frozen=True, eq=False)
class CramerLoss(TargetLoss):
    """Integral over ln D of the squared difference of cumulative distributions.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.
        scale: Number by which both cumulative distributions are divided [m^-3]; None to divide each
            by its own total, which compares shapes alone. A state with no particles then counts as
            lying at the grid's upper end, with zero gradient.

    Raises:
        ValueError: The scale is not positive, or the target holds values that are negative or not
            finite, or has an empty box whose shape is asked for.

    Source: Szekely and Rizzo (2013), Journal of Statistical Planning and Inference 143, 1249,
    doi:10.1016/j.jspi.2013.03.018.
    """

    target: SectionalState
    scale: float | None = None
    _goal: WarpArray = field(init=False, repr=False)
    _widths: WarpArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.target.check_values()
        if self.scale is None:
            goal = cumulative(self.target, shape_divisor(self.target))
        else:
            check_positive("scale", self.scale, "m^-3")
            goal = cumulative(self.target, self.scale)
        object.__setattr__(self, "_goal", goal)
        object.__setattr__(self, "_widths", on_device(self.target.grid.ln_widths, self.target))

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        return _operations(number, loss, options, [self._goal, self._widths, wp.float64(self.scale or 0.0), 2])


@dataclass(frozen=True, eq=False)
class Wasserstein1Loss(TargetLoss):
    """Wasserstein distance of order one on ln D: how far, on average, number has to be moved [1].

    Shapes are compared alone: both distributions are divided by their totals. A state with no
    particles counts as lying at the grid's upper end, with zero gradient. Where both cumulative
    distributions agree on a whole bin the distance has a kink: the derivative used there is zero, and
    in bins outside both distributions the one-sided one, of number being added.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.

    Raises:
        ValueError: The target holds values that are negative or not finite, or an empty box.

    Source: Vallender (1974), Theory of Probability and its Applications 18, 784,
    doi:10.1137/1118101.
    """

    target: SectionalState
    _goal: WarpArray = field(init=False, repr=False)
    _widths: WarpArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.target.check_values()
        object.__setattr__(self, "_goal", cumulative(self.target, shape_divisor(self.target)))
        object.__setattr__(self, "_widths", on_device(self.target.grid.ln_widths, self.target))

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        return _operations(number, loss, options, [self._goal, self._widths, wp.float64(0.0), 1])


def _operations(number: WarpArray, loss: WarpArray, options: dict[str, Any], parameters: list[Any]) -> list[Operation]:
    boxes, bins = shape_of(number)
    sums = new_zeros((boxes, bins + 1), **options)
    return [
        Operation(cumulate, boxes, [number], [sums]),
        Operation(cumulative_loss, boxes, [sums, *parameters], [loss]),
    ]


@wp.kernel
def cumulate(number: Float64Matrix, sums: Float64Matrix):
    """Cumulative sums at the bin edges; launched over [boxes]."""
    box = wp.tid()
    running = wp.float64(0.0)
    for i in range(number.shape[1]):
        running += number[box, i]
        sums[box, i + 1] = running


@wp.func
def divisor_of(sums: Float64Matrix, scale: Float64, box: Int32) -> Float64:
    """The scale if positive, otherwise the box's total."""
    if scale > _ZERO:
        return scale
    return sums[box, sums.shape[1] - 1]


@wp.func
def share_of(sum: Float64, divisor: Float64) -> Float64:
    """Sum over divisor; 0 where there is nothing to divide."""
    if divisor > _ZERO:
        return sum / divisor
    return _ZERO


@wp.func
def _segment(low: Float64, high: Float64, power: Int32) -> Float64:
    """Mean of |d|^power over a bin on which d goes linearly from `low` to `high`."""
    if power == 2:
        return (low * low + low * high + high * high) / _THREE
    total = wp.abs(low) + wp.abs(high)
    if low * high >= _ZERO:
        return _HALF * total
    return _HALF * (low * low + high * high) / total


@wp.func
def _segment_slope(this: Float64, other: Float64, power: Int32, side: Float64) -> Float64:
    """Derivative of `_segment` to the end `this`; where both ends are zero, half of `side`."""
    if power == 2:
        return (_TWO * this + other) / _THREE
    sum = this + other
    if this * other >= _ZERO:
        return wp.where(sum > _ZERO, _HALF, wp.where(sum < _ZERO, _MINUS_HALF, _HALF * side))
    a = wp.abs(this)
    b = wp.abs(other)
    slope = _HALF * (a * a + _TWO * a * b - b * b) / ((a + b) * (a + b))
    return wp.where(this > _ZERO, slope, -slope)


@wp.func
def _free_side(share_low: Float64, share_high: Float64) -> Float64:
    """The way a cumulative distribution can move on a bin outside of it: up from 0, down from 1."""
    if share_high <= _ZERO:
        return _ONE
    return wp.where(share_low >= _ONE, _MINUS_ONE, _ZERO)


@wp.func
def cumulative_distance(
    sums: Float64Matrix, goal: Float64Matrix, widths: Float64Array, scale: Float64, power: Int32, box: Int32
) -> Float64:
    """Integral of |F - G|^power over ln D."""
    row = wp.min(box, goal.shape[0] - 1)
    divisor = divisor_of(sums, scale, box)
    total = wp.float64(0.0)
    for i in range(widths.shape[0]):
        low = share_of(sums[box, i], divisor) - goal[row, i]
        high = share_of(sums[box, i + 1], divisor) - goal[row, i + 1]
        total += widths[i] * _segment(low, high, power)
    return total


@wp.func_grad(cumulative_distance)
def adjoint_cumulative_distance(
    sums: Float64Matrix,
    goal: Float64Matrix,
    widths: Float64Array,
    scale: Float64,
    power: Int32,
    box: Int32,
    cotangent: Float64,
):
    """Slopes at the edges; where the total divides, its own share goes to the last sum."""
    row = wp.min(box, goal.shape[0] - 1)
    divisor = divisor_of(sums, scale, box)
    bins = widths.shape[0]
    mean = wp.float64(0.0)
    if divisor > _ZERO:
        for i in range(bins):
            share_low = sums[box, i] / divisor
            share_high = sums[box, i + 1] / divisor
            low = share_low - goal[row, i]
            high = share_high - goal[row, i + 1]
            side = _free_side(share_low, share_high)
            slope_low = widths[i] * _segment_slope(low, high, power, side)
            slope_high = widths[i] * _segment_slope(high, low, power, side)
            wp.adjoint[sums][box, i] += slope_low / divisor * cotangent
            wp.adjoint[sums][box, i + 1] += slope_high / divisor * cotangent
            mean += slope_low * share_low + slope_high * share_high
        if scale <= _ZERO:
            wp.adjoint[sums][box, bins] += -mean / divisor * cotangent


@wp.kernel
def cumulative_loss(
    sums: Float64Matrix,
    goal: Float64Matrix,
    widths: Float64Array,
    scale: Float64,
    power: Int32,
    loss: Float64Array,
):
    """Launched over [boxes]."""
    box = wp.tid()
    loss[box] = cumulative_distance(sums, goal, widths, scale, power, box)
