"""Writes that change what an earlier operation read: the suspects of all causes about contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from retrograde.causes.accesses import Accesses
from retrograde.gradients.ladder import Case
from retrograde.trace.arrays import ArrayRef, root_of
from retrograde.trace.callsite import CallSite, Key
from retrograde.trace.extents import read_bytes
from retrograde.trace.objects import ObjectRef
from retrograde.trace.operations import Access, Kind, Operation

SAME_OBJECT = "same object"
"""Route of a write to what an object holds that kernels are given by its number."""


@dataclass(frozen=True, eq=False)
class Overwrite:
    """All writes of one call site over contents that earlier operations had read.

    Attributes:
        site: The call site.
        writer: The first such write.
        reader: The last operation that had read what it overwrote.
        access: The writing access.
        read: The access that had read.
        after_tape: Whether it came after the reader's tape was closed.
        changed: Whether any byte changed.
    """

    site: CallSite
    writer: Operation
    reader: Operation
    access: Access
    read: Access
    after_tape: bool
    changed: bool


def overwrites(case: Case) -> list[Overwrite]:
    """Overwrites within a window, one a call site, in program order."""
    found: dict[tuple[Key, bool], Overwrite] = {}
    readers = Accesses(case.window.blocks)
    for operation in case.window.operations:
        case.clock.check()
        for access in operation.accesses:
            if access.usage.writes and operation.kind is not Kind.BACKWARD:
                for overwrite in _overwritten(case, operation, access, readers):
                    key = (overwrite.site.key, overwrite.after_tape)
                    known = found.get(key)
                    if known is None or (overwrite.changed and not known.changed):
                        found[key] = overwrite
        if operation.tape is not None:
            for access in operation.accesses:
                if access.usage.load and access.ref.size:
                    readers.add(operation, access)
    return sorted(found.values(), key=lambda o: o.writer.index)


def _overwritten(case: Case, writer: Operation, access: Access, readers: Accesses) -> Iterator[Overwrite]:
    last = next(readers.of(access.ref.extent), None)
    if last is not None:
        reader, read = last
        after = _is_after(case, writer, reader)
        yield Overwrite(writer.site, writer, reader, access, read, after, _changes(case, writer, access.ref))


def _is_after(case: Case, writer: Operation, reader: Operation) -> bool:
    """Whether a write came between the last operation of a reader's tape and the backward pass of it."""
    if writer.tape is not None or writer.within == reader.tape:
        return False
    later = (o for o in case.recording.operations[writer.index + 1 :] if o.tape == reader.tape)
    following = next(later, None)
    return following is None or following.kind is Kind.BACKWARD


def _changes(case: Case, writer: Operation, ref: ArrayRef) -> bool:
    """Whether a write changed any byte: its undo differs from what the next rollback finds there."""
    extent = ref.extent
    before = [u for u in case.window.undo(writer.index) if u.extent == extent]
    if not before:
        return True
    after = _next_contents(case, writer, ref)
    return after is None or not np.array_equal(before[0].data, after)


def _next_contents(case: Case, writer: Operation, ref: ArrayRef) -> np.ndarray | None:
    extent = ref.extent
    for index in range(writer.index + 1, len(case.recording.operations)):
        for entry in case.recording.undo.get(index, ()):
            if entry.extent == extent:
                return entry.data
            if entry.extent.overlaps(extent):
                return None
    return read_bytes(extent)


def _is_object(operation: Operation, access: Access) -> bool:
    """Whether a launch reached some memory through an object that it was given by its number."""
    return operation.launch is not None and isinstance(operation.launch.arguments[access.position], ObjectRef)


def route_of(overwrite: Overwrite) -> str:
    """By which route the write came."""
    write, read, writer = overwrite.access, overwrite.read, overwrite.writer
    if writer.route is not None:
        return writer.route
    if writer.kind is Kind.FILL:
        return "fill"
    if writer.kind is Kind.HOST_WRITE:
        return "assignment from the host"
    if writer.kind is Kind.COPY:
        return "copy"
    if _is_object(writer, write):
        return SAME_OBJECT
    if len(write.path) > 1 or (len(read.path) > 1 and not _is_object(overwrite.reader, read)):
        return "field of a struct"
    if write.ref.array is read.ref.array:
        return "same array"
    if root_of(write.ref.array) is root_of(read.ref.array):
        return "view or slice"
    return "another array on the same memory"
