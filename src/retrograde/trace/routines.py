"""Library routines that read and write arrays without launching a kernel, and have no adjoint.

Each is known by the names of the arguments that it writes; it reads every other array.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from retrograde.trace.warp_api import wp

ROUTINES: Mapping[str, frozenset[str]] = {
    "array_scan": frozenset({"out_array"}),
    "radix_sort_pairs": frozenset({"keys", "values"}),
    "segmented_sort_pairs": frozenset({"keys", "values"}),
    "runlength_encode": frozenset({"run_values", "run_lengths", "run_count"}),
    "array_sum": frozenset({"out"}),
    "array_inner": frozenset({"out"}),
}
"""Names of functions of `warp.utils`, and of the arguments that they write."""


def arrays_by_role(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[list[Any], list[Any]]:
    """The arrays that a call of a routine reads, and those that it writes."""
    given: Mapping[str, Any] = _signature(function).bind(*args, **kwargs).arguments
    arrays = {name: value for name, value in given.items() if isinstance(value, wp.array)}
    outputs = ROUTINES[name]
    read = [a for argument, a in arrays.items() if argument not in outputs or "sort" in name]
    return read, [a for argument, a in arrays.items() if argument in outputs]


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)
