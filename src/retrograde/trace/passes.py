"""What a backward pass begins from, and where it leaves gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.extents import Extent, read_bytes
from retrograde.trace.operations import Operation, Seed
from retrograde.trace.plan import read_values
from retrograde.trace.usage import KernelUsage


def outputs_of(operations: Iterable[Operation], tape: int) -> set[int]:
    """Addresses of arrays that an operation on a tape wrote last and none read after."""
    written: set[int] = set()
    for operation in operations:
        if operation.tape != tape:
            continue
        for access in operation.accesses:
            if access.usage.load and not access.usage.writes:
                written.discard(access.ref.pointer)
            elif access.usage.writes:
                written.add(access.ref.pointer)
    return written


class Everything(set[int]):
    """Holds every address: in a re-execution, where operations are not recorded."""

    def __contains__(self, item: object) -> bool:
        """True."""
        return True


def leaves_of(operations: Iterable[Operation], tape: int) -> list[Extent]:
    """Gradient buffers of arrays that a tape read before it wrote them."""
    first: dict[Extent, None] = {}
    written: set[int] = set()
    for operation in operations:
        if operation.tape != tape:
            continue
        for access in operation.accesses:
            gradient = access.ref.gradient_extent
            if gradient is None:
                continue
            if access.ref.pointer not in written and access.usage.load:
                first[gradient] = None
            if access.usage.writes:
                written.add(access.ref.pointer)
    return list(first)


def value_of(loss: ArrayRef | None, seeds: tuple[Seed, ...]) -> float | None:
    """What a backward pass differentiates, as it is now."""
    if loss is not None:
        return float(read_values(loss).sum())
    if not seeds:
        return None
    return sum(float(np.vdot(s.values(), read_values(s.ref))) for s in seeds)


def sides_of(
    kernel: Any, usage: KernelUsage, values: Sequence[Any], adjoints: Sequence[Any], passed_on: Set[int]
) -> tuple[list[ArrayRef], list[Seed]]:
    """Where the adjoint of one kernel, launched by hand, leaves gradients, and what it begins from.

    Args:
        kernel: The kernel.
        usage: What it does to its arguments.
        values: Its arguments.
        adjoints: Adjoints of its arguments, None where an argument's own gradient buffer serves.
        passed_on: Addresses of buffers that other adjoints launched by hand left gradients in.
    """
    leaves: list[ArrayRef] = []
    seeds: list[Seed] = []
    for position, value in enumerate(values):
        ref = describe(value)
        given = describe(adjoints[position] if position < len(adjoints) else None)
        if ref is None or (given is None and ref.gradient is None):
            continue
        ref = ref if given is None else replace(ref, gradient=given.pointer)
        used = usage.of((kernel.adj.args[position].label,))
        if used.writes:
            seeds.append(_seed_of(ref, passed_on))
        elif used.load:
            leaves.append(ref)
    return leaves, seeds


def _seed_of(ref: ArrayRef, passed_on: Set[int]) -> Seed:
    extent = ref.gradient_extent
    assert extent is not None
    scalar = np.dtype(ref.scalar if ref.scalar is not None else np.uint8)
    view = np.ndarray(
        ref.full_shape, scalar, read_bytes(extent), offset=(ref.gradient or 0) - extent.low, strides=ref.full_strides
    )
    weights = np.ascontiguousarray(view).reshape(-1).view(np.uint8)
    return Seed(ref, weights, explicit=True, source=extent if ref.gradient in passed_on else None)
