"""Versions of an array: its contents between two writes from outside any tape."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from retrograde.gradients.consumption import touches
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent
from retrograde.trace.operations import SHARED, Kind, Operation, Recording


@dataclass(frozen=True, eq=False)
class Version:
    """Contents of an array between two writes from outside any tape.

    The writes that end it may come in pieces: `end` is the first of them, `last` the index after the last.
    """

    begin: int
    end: Operation | None
    last: int
    reads: tuple[Operation, ...]
    taped: tuple[Operation, ...]


def versions_of(recording: Recording, ref: ArrayRef, missed: Set[int] = frozenset()) -> Iterator[Version]:
    """Contents of an array between two updates; one that should have changed it and missed it counts."""
    extent = ref.extent
    in_torch = ref.gradient in recording.in_torch
    begin, reads, taped = 0, list[Operation](), list[Operation]()
    for operation in recording.operations:
        touched = list(touches(operation, extent))
        if not (touched or operation.index in missed) or operation.kind is Kind.BACKWARD:
            continue
        here = (operation.kind is Kind.TORCH) == in_torch and operation.route != SHARED
        loads = here and any(load for _, load, _ in touched)
        writes = any(write for _, _, write in touched) or operation.index in missed
        if writes and operation.tape is None:
            if taped or (reads and _backward_between(recording, begin, operation.index)):
                last = _end_of_update(recording, extent, operation.index)
                yield Version(begin, operation, last, tuple(reads), tuple(taped))
            begin, reads, taped = operation.index + 1, [], []
            continue
        if loads:
            reads.append(operation)
            if operation.tape is not None:
                taped.append(operation)
    if reads:
        yield Version(begin, None, 0, tuple(reads), tuple(taped))


def from_its_origin(recording: Recording, ref: ArrayRef, version: Version) -> Version:
    """A version whose contents were restored from a copy kept aside, from where they first were in the array."""
    begin = version.begin
    while (earlier := _restored_from(recording, ref, begin - 1)) is not None:
        begin = earlier + 1
    if begin == version.begin:
        return version
    last = version.reads[-1].index
    reads = [o for o in recording.operations[begin : last + 1] if any(load for _, load, _ in touches(o, ref.extent))]
    return replace(version, begin=begin, reads=tuple(reads))


def _restored_from(recording: Recording, ref: ArrayRef, index: int) -> int | None:
    """The write whose contents a copy brings back into an array; None where it does not bring any back."""
    if index < 0 or recording.operations[index].kind is not Kind.COPY:
        return None
    to, of = (a.ref.extent for a in recording.operations[index].accesses)
    if to != ref.extent or of == to:
        return None
    kept = _last_write(recording, of, index)
    if kept is None or kept.kind is not Kind.COPY or kept.accesses[0].ref.extent != of:
        return None
    if kept.accesses[1].ref.extent != to or kept.tape is not None:
        return None
    written = _last_write(recording, to, kept.index)
    return None if written is None else written.index


def _last_write(recording: Recording, extent: Extent, before: int) -> Operation | None:
    written = (o for o in reversed(recording.operations[:before]) if any(w for _, _, w in touches(o, extent)))
    return next(written, None)


def _end_of_update(recording: Recording, extent: Extent, begin: int) -> int:
    """One past the last write from outside a tape before a tape reads the array or runs backward again."""
    last = begin
    for operation in recording.operations[begin:]:
        if operation.kind is Kind.BACKWARD:
            break
        touched = list(touches(operation, extent))
        if operation.tape is not None and any(load for _, load, _ in touched):
            break
        if operation.tape is None and any(write for _, _, write in touched):
            last = operation.index
    return last + 1


def _backward_between(recording: Recording, begin: int, end: int) -> bool:
    return any(o.kind is Kind.BACKWARD for o in recording.operations[begin:end])
