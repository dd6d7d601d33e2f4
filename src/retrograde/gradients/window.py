"""The operations between a parameter's first read and the loss, and the memory they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from retrograde.gradients.memory import Memory
from retrograde.gradients.slices import stood_for, upstream
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent, merge
from retrograde.trace.operations import Kind, Operation, Recording, Undo


@dataclass(frozen=True, eq=False)
class Window:
    """A stretch of a recording.

    Attributes:
        recording: The whole recording.
        first, last: Indices of its first and last operation.
        parameter: The array whose gradient is sought; it may be read in pieces.
        disbelieved: Indices of recorded functions that are not the adjoint of what they stand for.
    """

    recording: Recording
    first: int
    last: int
    parameter: ArrayRef
    disbelieved: frozenset[int] = frozenset()

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, in program order."""
        return self.recording.operations[self.first : self.last + 1]

    @cached_property
    def blocks(self) -> tuple[Extent, ...]:
        """Disjoint ranges of memory that the operations touch."""
        return merge(ref.extent for ref in self._refs())

    def _refs(self) -> Iterator[ArrayRef]:
        yield self.parameter
        for operation in self.operations:
            for access in operation.accesses:
                yield access.ref
            if operation.backward is not None:
                for seed in operation.backward.seeds:
                    yield seed.ref

    def undo(self, index: int) -> tuple[Undo, ...]:
        """What an operation overwrote."""
        return self.recording.undo.get(index, ())

    @cached_property
    def _end(self) -> Memory:
        """Contents just after the last operation, from the program's present memory."""
        memory = Memory(self.blocks)
        memory.fill_from_program()
        for index in sorted(self.recording.undo, reverse=True):
            if index <= self.last:
                break
            memory.undo(self.undo(index))
        return memory

    def contents_at_end(self) -> Memory:
        """A fresh copy of the contents just after the last operation."""
        memory = Memory(self.blocks)
        memory.copy_from(self._end)
        return memory

    def contents_before(self, index: int) -> Memory:
        """A fresh copy of the contents just before an operation."""
        memory = self.contents_at_end()
        for later in range(self.last, index - 1, -1):
            memory.undo(self.undo(later))
        return memory

    @cached_property
    def launches(self) -> tuple[Operation, ...]:
        """The launches among the operations."""
        return tuple(o for o in self.operations if o.kind is Kind.LAUNCH)

    @cached_property
    def upstream(self) -> frozenset[int]:
        """Indices of operations that a backward pass of the window may go through."""
        return upstream(self.operations)

    @cached_property
    def halved(self) -> type[np.floating[Any]] | None:
        """Half precision where something that a backward pass may go through is kept in it, None elsewhere.

        Then the objective is a flight of small stairs, and differences over less than a step show none of its slope.
        """
        passed = (o for o in self.operations if o.index in self.upstream)
        return np.float16 if any(a.ref.scalar is np.float16 for o in passed for a in o.accesses) else None

    @cached_property
    def stood_for(self) -> frozenset[int]:
        """Indices of operations that a function recorded with `Tape.record_func` stands for."""
        return stood_for(self.operations, self.disbelieved)

    @cached_property
    def claimed(self) -> frozenset[int]:
        """Indices of operations that a recorded function stands for, be it their adjoint or not."""
        return stood_for(self.operations)

    @property
    def replayable(self) -> bool:
        """Whether all launches can run on other memory."""
        return not any(o.launch.opaque for o in self.launches if o.launch is not None)
