"""Textbook kernels of sectional coagulation, one thread a box and bin, for Warp's own adjoint.

They follow what that adjoint gets right: every launch writes new memory, sums are gathers by `+=`
in functions that return the sums alone, and all that is not linear in a sum happens in the caller.
"""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from dataclasses import dataclass
from functools import cache
from typing import Any

from retrograde.aerosol._device import wp


@dataclass(frozen=True)
class PlainKernels:
    """Kernels over [boxes, bins + 1]; the last row is the volume that has left the grid.

    Attributes:
        extend: `(number, state)` a state with nothing escaped yet.
        split: `(state, time, number, escaped)` a state into slot `time` of the outputs.
        interval_sums: `(state, kernel, starts, larger, smaller, first, second, sums)` rates of all
            pairs with a product in an interval, by both weights, sums of shape [2, boxes, bins + 1].
        loss_rates: `(state, kernel, removal, rates)`.
        fixed_pivot, cell_average: `(state, sums, rates, supply, backstep, top, tendency)`.
        advance: `(state, tendency, h, result)` an Euler step.
        average: `(state, result_of_both_stages, result)` the mean of the two.
    """

    extend: Any
    split: Any
    interval_sums: Any
    loss_rates: Any
    fixed_pivot: Any
    cell_average: Any
    advance: Any
    average: Any


@cache
def plain_kernels(real: Any) -> PlainKernels:
    """Kernels for scalars of type `real`."""
    extend, split, advance, average = _state_kernels(real)
    interval_sums, loss_rates = _sum_kernels(real)
    return PlainKernels(
        extend=extend,
        split=split,
        interval_sums=interval_sums,
        loss_rates=loss_rates,
        fixed_pivot=_fixed_pivot_kernel(real),
        cell_average=_cell_average_kernel(real),
        advance=advance,
        average=average,
    )


def _state_kernels(real: Any) -> tuple[Any, Any, Any, Any]:
    matrix = wp.array(dtype=real, ndim=2)
    half = real(0.5)

    @wp.kernel(module="unique")
    def extend(number: matrix, state: matrix):
        b, i = wp.tid()
        if i < number.shape[1]:
            state[b, i] = number[b, i]

    @wp.kernel(module="unique")
    def split(state: matrix, time: int, number: wp.array(dtype=real, ndim=3), escaped: matrix):
        b, i = wp.tid()
        if i < number.shape[2]:
            number[time, b, i] = state[b, i]
        else:
            escaped[time, b] = state[b, i]

    @wp.kernel(module="unique")
    def advance(state: matrix, tendency: matrix, h: real, result: matrix):
        b, i = wp.tid()
        result[b, i] = state[b, i] + h * tendency[b, i]

    @wp.kernel(module="unique")
    def average(state: matrix, twice: matrix, result: matrix):
        b, i = wp.tid()
        result[b, i] = half * (state[b, i] + twice[b, i])

    return extend, split, advance, average


def _sum_kernels(real: Any) -> tuple[Any, Any]:
    matrix = wp.array(dtype=real, ndim=2)
    tensor = wp.array(dtype=real, ndim=3)
    vector = wp.array(dtype=real)
    indices = wp.array(dtype=wp.int32)

    @wp.func
    def pair_sum(
        state: matrix, kernel: tensor, b: int, start: int, stop: int, larger: indices, smaller: indices, weight: vector
    ):
        total = real(0.0)
        for q in range(start, stop):
            j = larger[q]
            k = smaller[q]
            total += weight[q] * kernel[b % kernel.shape[0], j, k] * state[b, j] * state[b, k]
        return total

    @wp.func
    def partner_sum(state: matrix, kernel: tensor, b: int, i: int):
        total = real(0.0)
        for k in range(kernel.shape[1]):
            total += kernel[b % kernel.shape[0], i, k] * state[b, k]
        return total

    @wp.kernel(module="unique")
    def interval_sums(
        state: matrix,
        kernel: tensor,
        starts: indices,
        larger: indices,
        smaller: indices,
        first: vector,
        second: vector,
        sums: tensor,
    ):
        b, i = wp.tid()
        sums[0, b, i] = pair_sum(state, kernel, b, starts[i], starts[i + 1], larger, smaller, first)
        sums[1, b, i] = pair_sum(state, kernel, b, starts[i], starts[i + 1], larger, smaller, second)

    @wp.kernel(module="unique")
    def loss_rates(state: matrix, kernel: tensor, removal: matrix, rates: matrix):
        b, i = wp.tid()
        if i < kernel.shape[1]:
            rates[b, i] = removal[b % removal.shape[0], i] + partner_sum(state, kernel, b, i)

    return interval_sums, loss_rates


def _fixed_pivot_kernel(real: Any) -> Any:
    matrix = wp.array(dtype=real, ndim=2)

    @wp.kernel(module="unique")
    def fixed_pivot(
        state: matrix,
        sums: wp.array(dtype=real, ndim=3),
        rates: matrix,
        supply: matrix,
        backstep: wp.array(dtype=real),
        top: real,
        tendency: matrix,
    ):
        b, i = wp.tid()
        bins = backstep.shape[0]
        from_below = real(0.0)
        if i > 0:
            from_below = sums[1, b, i - 1]
        if i < bins:
            source = supply[b % supply.shape[0], i] + sums[0, b, i] + from_below
            tendency[b, i] = source - state[b, i] * rates[b, i]
        else:
            tendency[b, i] = sums[0, b, i] + top * from_below

    return fixed_pivot


def _cell_average_kernel(real: Any) -> Any:
    matrix = wp.array(dtype=real, ndim=2)
    nothing = real(0.0)

    @wp.kernel(module="unique")
    def cell_average(
        state: matrix,
        sums: wp.array(dtype=real, ndim=3),
        rates: matrix,
        supply: matrix,
        backstep: wp.array(dtype=real),
        top: real,
        tendency: matrix,
    ):
        b, i = wp.tid()
        bins = backstep.shape[0]
        from_below = nothing
        if i > 0:
            from_below = wp.max(sums[1, b, i - 1], nothing)
        if i == bins:
            tendency[b, i] = sums[0, b, i] + top * from_below
        else:
            from_above = nothing
            if i + 1 < bins:
                from_above = backstep[i + 1] * wp.min(sums[1, b, i + 1], nothing)
            excess = sums[1, b, i]
            handed = wp.max(excess, nothing) - backstep[i] * wp.min(excess, nothing)
            source = supply[b % supply.shape[0], i] + sums[0, b, i] + from_below - from_above - handed
            tendency[b, i] = source - state[b, i] * rates[b, i]

    return cell_average
