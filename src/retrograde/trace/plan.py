"""What a re-execution shall do: perturb here, read the objective there, then stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent, host_view, read_bytes, write_bytes

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Injection:
    """New contents for a parameter, written just before a call reads it.

    Attributes:
        ordinal: Ordinal of the call.
        slot: Index among the call's accesses of an array of the same memory.
        offset: Address of the parameter minus address of that array [byte].
        shape, strides, item: Layout of the parameter, components of vectors as trailing axes.
        values: The contents to write.
    """

    ordinal: int
    slot: int
    offset: int
    strides: tuple[int, ...]
    values: npt.NDArray[Any]

    def apply(self, accessed: ArrayRef) -> None:
        """Write the values."""
        write_values(accessed.device, accessed.pointer + self.offset, self.strides, self.values)


@dataclass(frozen=True)
class NumberInjection:
    """New values for numbers that a launch is given by value.

    Attributes:
        ordinal: Ordinal of the launch.
        values: New values by index among the components of all its numbers.
    """

    ordinal: int
    values: Mapping[int, float]


@dataclass(frozen=True, eq=False)
class Term:
    """A part of the objective, read when a backward pass begins.

    Attributes:
        ordinal: Ordinal of the call at which it is read.
        weights: Weights on the elements of each seeded array; empty for a scalar loss.
        slot: Where the array is read before another call than a backward pass: its index among the call's accesses.
    """

    ordinal: int
    weights: tuple[Float, ...] = ()
    slot: int | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """A re-execution.

    Attributes:
        injections: What to perturb.
        terms: What to read.
        watched: Ordinals of the calls whose values from outside are wanted.
        numbers: Numbers to perturb.
    """

    injections: tuple[Injection, ...]
    terms: tuple[Term, ...]
    watched: frozenset[int] = frozenset()
    numbers: tuple[NumberInjection, ...] = ()

    @property
    def last(self) -> int:
        """Ordinal of the last term."""
        return max((t.ordinal for t in self.terms), default=-1)


@dataclass(frozen=True)
class Outcome:
    """What a re-execution saw.

    Attributes:
        values: Value of each term, by ordinal; several terms at one ordinal in order.
        failure: Why it did not reach its end, None if it did.
        seen: Values that crossed between host and device at watched calls, by ordinal and count at that ordinal.
        seconds: Time that it took [s].
    """

    values: Mapping[int, float] = field(default_factory=dict[int, float])
    failure: str | None = None
    seen: Mapping[tuple[int, int], Float] = field(default_factory=dict[tuple[int, int], Float])
    seconds: float = 0.0

    @property
    def total(self) -> float:
        """Sum of all terms, NaN after a failure."""
        return float("nan") if self.failure is not None else float(sum(self.values.values()))


def read_values(ref: ArrayRef) -> Float:
    """Contents of an array as float64, components of vectors as trailing axes."""
    extent = ref.extent
    return values_in(read_bytes(extent), extent, ref)


def values_in(data: npt.NDArray[np.uint8], extent: Extent, ref: ArrayRef) -> Float:
    """An array's values out of the bytes of a range that holds it."""
    scalar = np.dtype(ref.scalar if ref.scalar is not None else np.uint8)
    view = np.ndarray(
        ref.full_shape,
        dtype=scalar,
        buffer=np.ascontiguousarray(data),
        offset=ref.pointer - extent.low,
        strides=ref.full_strides,
    )
    return view.astype(np.float64)


def write_values(device: str, address: int, strides: tuple[int, ...], values: npt.NDArray[Any]) -> None:
    """Write values into strided memory."""
    low = high = address
    for count, stride in zip(values.shape, strides, strict=True):
        low += min((count - 1) * stride, 0)
        high += max((count - 1) * stride, 0)
    extent = Extent(device, low, high + values.dtype.itemsize)
    data = host_view(low, extent.size) if device == "cpu" else read_bytes(extent)
    target = np.ndarray(values.shape, dtype=values.dtype, buffer=data, offset=address - low, strides=strides)
    target[...] = values
    if device != "cpu":
        write_bytes(extent, data)
