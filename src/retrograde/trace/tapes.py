"""What a tape holds: its arrays in a fixed order, the seeds and the leftovers in their gradients."""

from __future__ import annotations

import weakref
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from retrograde.trace.arguments import struct_arrays
from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.extents import Bytes, Extent, read_bytes
from retrograde.trace.operations import Seed
from retrograde.trace.plan import read_values
from retrograde.trace.warp_api import wp


class TapeIdentities:
    """Numbers for tapes; a tape that was reset is another tape."""

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._backward: dict[int, int] = {}
        self._next = 0

    def of(self, tape: Any) -> int:
        """The number of a tape."""
        number = self._numbers.get(tape)
        if number is None:
            number = self.renew(tape)
        return number

    def renew(self, tape: Any) -> int:
        """Give a tape a new number."""
        self._next += 1
        self._numbers[tape] = self._next
        return self._next

    def fresh(self) -> int:
        """A number for a backward pass without a tape."""
        self._next += 1
        return self._next

    def count_backward(self, number: int) -> int:
        """Count a backward pass; returns how many came before it."""
        before = self._backward.get(number, 0)
        self._backward[number] = before + 1
        return before


@dataclass(frozen=True, eq=False)
class TapeState:
    """What a tape held at one moment.

    Attributes:
        tape: The tape.
        launches: Its launches.
        gradients: Gradients by array, as far as it knew them.
    """

    tape: Any
    launches: tuple[Any, ...]
    gradients: dict[Any, Any]

    @classmethod
    def of(cls, tape: Any) -> TapeState:
        """The present state of a tape."""
        return cls(tape, tuple(tape.launches), dict(tape.gradients))


def tape_arrays(tape: TapeState) -> Iterator[Any]:
    """Every array with a gradient that the tape's launches refer to, in the tape's order, once each."""
    seen: set[int] = set()
    for launch in tape.launches:
        if callable(launch):
            continue
        for argument in (*launch[3], *launch[4]):
            for array in _arrays(argument):
                if array.grad is not None and id(array) not in seen:
                    seen.add(id(array))
                    yield array
    for array in list(tape.gradients):
        if isinstance(array, wp.array) and array.grad is not None and id(array) not in seen:
            seen.add(id(array))
            yield array


def _arrays(argument: Any) -> Iterator[Any]:
    if isinstance(argument, wp.array):
        yield argument
    elif hasattr(argument, "_cls") and hasattr(argument, "_ctype"):
        for _, array in struct_arrays(argument):
            if isinstance(array, wp.array):
                yield array


def gradient_contents(tape: TapeState) -> dict[Extent, Bytes]:
    """Contents of the gradient buffers of a tape's arrays that are not all zero."""
    contents: dict[Extent, Bytes] = {}
    for array in tape_arrays(tape):
        ref = describe(array)
        if ref is None or ref.gradient_extent is None or ref.gradient_extent in contents:
            continue
        data = read_bytes(ref.gradient_extent)
        if data.any():
            contents[ref.gradient_extent] = data
    return contents


def seeds_of(
    tape: TapeState, loss: Any, grads: dict[Any, Any] | None, written: Container[int], buffers: Container[int]
) -> tuple[Seed, ...]:
    """The seeds of a backward pass: explicit ones, else the gradients that were set by hand.

    Args:
        tape: The tape.
        loss, grads: As handed to `Tape.backward`.
        buffers: Addresses of known gradient buffers.
        written: Addresses of arrays that a launch or copy on this tape wrote last and none read after.
    """
    seeds: list[Seed] = []
    for array, gradient in (grads or {}).items():
        ref, weights = describe(array), describe(gradient)
        if ref is not None and weights is not None:
            continued = weights.pointer in buffers and weights.pointer != ref.gradient
            source = weights.extent if continued else None
            pairs = zip(ref.leaves, weights.leaves, strict=False)
            seeds += [Seed(leaf, _packed(weight), True, source) for leaf, weight in pairs]
    if loss is not None or seeds:
        return tuple(seeds)
    for array in tape_arrays(tape):
        ref = describe(array)
        if ref is None or ref.gradient_extent is None or ref.pointer not in written:
            continue
        for leaf in ref.leaves:
            assert leaf.gradient is not None
            data = _packed(replace(leaf, pointer=leaf.gradient))
            if data.any():
                seeds.append(Seed(leaf, data, explicit=False))
    return tuple(seeds)


def _packed(leaf: ArrayRef) -> Bytes:
    """The contents of an array without the gaps between its elements."""
    return np.ascontiguousarray(read_values(leaf).astype(leaf.scalar)).reshape(-1).view(np.uint8)
