"""Copies and sums of device memory that no tape sees."""

from __future__ import annotations

from typing import Any

from retrograde.aerosol._device import Float64Tensor, WarpArray, new_zeros, shape_of, wp


def untaped_copy(array: WarpArray, *, requires_grad: bool = False) -> Any:
    """A copy of an array of three dimensions; a tape would record `wp.clone`."""
    untyped: Any = array
    copy = new_zeros(shape_of(array), device=untyped.device, requires_grad=requires_grad)
    add_untaped(array, copy)
    return copy


def add_untaped(values: WarpArray, total: WarpArray) -> None:
    """Add element by element to an array of three dimensions."""
    untyped: Any = values
    wp.launch(add_to, shape_of(values), [values, total], device=untyped.device, record_tape=False)


@wp.kernel(enable_backward=False)
def add_to(values: Float64Tensor, total: Float64Tensor):
    """Over all elements."""
    b, i, s = wp.tid()
    total[b, i, s] = total[b, i, s] + values[b, i, s]
