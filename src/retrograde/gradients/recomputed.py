"""Overwritten contents that were not kept, computed again when they are asked for.

A segment's operations run forward on a copy of memory from the contents at its beginning, which were kept. What its
end holds must be what memory held there, bit for bit: else something wrote that was not observed, and nothing of the
segment is trusted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from retrograde.gradients.memory import Memory
from retrograde.gradients.replay import step_forward
from retrograde.trace.extents import Extent, merge
from retrograde.trace.operations import Kind, Operation, Recording, Segment, Undo


class NotRecomputableError(Exception):
    """Contents that were not kept do not come out again."""


def recomputed(recording: Recording) -> Recording:
    """The recording, with all overwritten contents to be had."""
    return replace(recording, undo=_Overwritten(recording)) if recording.segments else recording


class _Overwritten(Mapping[int, tuple[Undo, ...]]):
    """Overwritten contents by operation index; those of one segment at a time are in memory.

    Args:
        recording: The recording; the program's memory must not change any more.
    """

    def __init__(self, recording: Recording) -> None:
        self._operations = recording.operations
        self._kept = recording.undo
        self._segments = recording.segments
        self._begins = [s.begin for s in recording.segments]
        # Backward passes write to gradients, and by functions of the program elsewhere; they are not run again.
        self._by_backward = {e.low for o in recording.operations for a in o.accesses if (e := a.ref.gradient_extent)}
        passes = (o.index for o in recording.operations if o.kind is Kind.BACKWARD)
        self._by_backward |= {u.extent.low for index in passes for u in recording.undo.get(index, ())}
        self._held: tuple[Segment, dict[int, tuple[Undo, ...]]] | None = None
        self._memory: Memory | None = None
        self._position = 0

    def __getitem__(self, index: int) -> tuple[Undo, ...]:
        segment = self._segment_of(index)
        if segment is None or index not in segment.dropped:
            return self._kept[index]
        return (*self._kept.get(index, ()), *self._of(segment)[index])

    def __contains__(self, index: object) -> bool:
        return index in self._kept or any(index in s.dropped for s in self._segments)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted({*self._kept, *(index for s in self._segments for index in s.dropped)}))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _segment_of(self, index: int) -> Segment | None:
        found = bisect_right(self._begins, index) - 1
        return self._segments[found] if found >= 0 else None

    def _of(self, segment: Segment) -> dict[int, tuple[Undo, ...]]:
        if self._held is None or self._held[0] is not segment:
            self._held = (segment, self._run(segment))
        return self._held[1]

    # -- running a segment again -------------------------------------------------------------------

    def _run(self, segment: Segment) -> dict[int, tuple[Undo, ...]]:
        """What the segment's operations overwrite, computed again."""
        memory = self._at(segment.end)
        inside = range(segment.begin, segment.end)
        kept = (u.extent for n in inside for u in self._kept.get(n, ()))
        extents = merge(extent for extent in kept if extent.low not in self._by_backward)
        end = {extent: memory.read(extent) for extent in extents}
        for index in reversed(inside):
            memory.undo(self._kept.get(index, ()))
        found: dict[int, tuple[Undo, ...]] = {}
        for index in inside:
            dropped = segment.dropped.get(index, ())
            found[index] = tuple(Undo(extent, memory.read(extent)) for extent in dropped)
            _step(self._operations[index], memory)
        if not all(np.array_equal(memory.read(extent), data) for extent, data in end.items()):
            first, last = self._operations[segment.begin], self._operations[segment.end - 1]
            raise NotRecomputableError(
                f"what the program overwrote between {first.site} and {last.site} had no room, and does not come out "
                "again when its operations are run again; allow more room by --memory and --disk"
            )
        return found

    def _at(self, index: int) -> Memory:
        """Contents just before an operation, in a copy that goes backward from one call to the next."""
        if self._memory is None or self._position < index:
            self._memory = Memory(merge(self._extents()))
            self._memory.fill_from_program()
            self._position = len(self._operations)
        # Segments lie wholly on one side of the end of another, and what is kept of one gives back its beginning.
        for number in range(self._position - 1, index - 1, -1):
            self._memory.undo(self._kept.get(number, ()))
        self._position = index
        return self._memory

    def _extents(self) -> Iterator[Extent]:
        for operation in self._operations:
            for access in operation.accesses:
                yield access.ref.extent
            yield from operation.gradients
        for entries in self._kept.values():
            for entry in entries:
                yield entry.extent


def _step(operation: Operation, memory: Memory) -> None:
    """Run one operation, with what backward passes left in the gradient buffers that it reads."""
    for extent, data in operation.gradients.items():
        memory.write(extent, data)
    if operation.kind is Kind.CLEAR:
        for access in operation.accesses:
            memory.write(access.ref.extent, np.zeros(access.ref.extent.size, dtype=np.uint8))
    else:
        step_forward(operation, memory)
