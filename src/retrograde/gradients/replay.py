"""Replay: the recorded operations run forward on a copy of memory, in milliseconds.

Values that left for the host and came back are constants here, and so is whatever an unobserved
routine wrote: a replay is trusted only where it agrees with a re-execution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from retrograde.gradients.binding import prepared_forward, run_forward
from retrograde.gradients.clock import UNTIMED, Clock
from retrograde.gradients.memory import Memory
from retrograde.gradients.sweep import SeedTerm
from retrograde.gradients.window import Window
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Bytes, Extent
from retrograde.trace.operations import CopyCall, Kind, Operation

Float = npt.NDArray[np.float64]
_MOST_BOUND = 20_000


class Replay:
    """Runs a window forward again and again.

    Args:
        window: The operations.
        seeds: The objective, as weights on arrays when backward passes begin.
        clock: When a run must be over; one that is not raises `OutOfTimeError`.
    """

    def __init__(self, window: Window, seeds: tuple[SeedTerm, ...], clock: Clock = UNTIMED) -> None:
        self.window = window
        self.seeds = seeds
        self.clock = clock
        self._start = window.contents_before(window.first)
        self._memory = Memory(window.blocks)
        self._bound: dict[int, Callable[[], None]] = {}

    def value(self, ref: ArrayRef, at: int, values: Float | None) -> float:
        """The objective with other contents of an array, written just before an operation."""
        memory = self._memory
        memory.copy_from(self._start)
        total = 0.0
        for operation in self.window.operations:
            if operation.index == at and values is not None:
                memory.set_values(ref, values)
            for seed in self.seeds:
                if seed.index == operation.index:
                    total += float(np.vdot(seed.weights, memory.values(seed.ref)))
            self.clock.check()
            self._step(operation)
        return total

    def _step(self, operation: Operation) -> None:
        """Run one operation on this replay's memory."""
        call, known = operation.launch, operation.index in self._bound
        if call is None or (not known and len(self._bound) >= _MOST_BOUND):
            step_forward(operation, self._memory)
            return
        if not known:
            self._bound[operation.index] = prepared_forward(call, self._memory)
        self._bound[operation.index]()

    def unobserved(self) -> tuple[ArrayRef, ...]:
        """Arrays whose recorded contents a replay does not reproduce: something unobserved wrote them."""
        memory = self._memory
        memory.copy_from(self._start)
        found: dict[int, ArrayRef] = {}
        for operation in self.window.operations:
            for entry in self.window.undo(operation.index):
                if memory.covers(entry.extent) and not np.array_equal(memory.read(entry.extent), entry.data):
                    for access in operation.accesses:
                        if access.ref.extent.overlaps(entry.extent):
                            found[access.ref.pointer] = access.ref
                    memory.write(entry.extent, entry.data)
            self.clock.check()
            self._step(operation)
        # Once the objective is there, its backward pass may write what it likes.
        end = self.window.contents_before(self.window.last)
        passed_back = self._written_by_backward()
        for operation in self.window.operations:
            for access in operation.accesses:
                extent = access.ref.extent
                if extent in passed_back:
                    continue
                if access.ref.pointer not in found and not np.array_equal(memory.read(extent), end.read(extent)):
                    found[access.ref.pointer] = access.ref
        return tuple(found.values())

    def _written_by_backward(self) -> frozenset[Extent]:
        """Gradients that no operation reads: the last backward pass leaves in them what no replay gives."""
        accesses = [a for o in self.window.operations for a in o.accesses]
        gradients = {e for a in accesses if (e := a.ref.gradient_extent) is not None}
        return frozenset(gradients - {a.ref.extent for a in accesses if a.usage.load or a.usage.accumulate})


def step_forward(operation: Operation, memory: Memory) -> None:
    """Run one operation on a copy of memory."""
    if operation.launch is not None:
        run_forward(operation.launch, memory)
    elif isinstance(operation.call, CopyCall):
        _copy(operation.call, memory)
    elif operation.data is not None and operation.kind is Kind.FILL:
        _fill(operation.accesses[0].ref, operation.data, memory)
    elif operation.data is not None and operation.kind in (Kind.HOST_WRITE, Kind.ROUTINE):
        _restore(operation, operation.data, memory)


def _restore(operation: Operation, data: Bytes, memory: Memory) -> None:
    """Write what came from outside as it was."""
    begin = 0
    for access in operation.accesses:
        if access.usage.writes:
            extent = access.ref.extent
            memory.write(extent, data[begin : begin + extent.size])
            begin += extent.size


def _fill(ref: ArrayRef, element: Bytes, memory: Memory) -> None:
    extent = ref.extent
    data = memory.read(extent)
    view = np.ndarray(
        (*ref.shape, ref.item), np.uint8, buffer=data, offset=ref.pointer - extent.low, strides=(*ref.strides, 1)
    )
    view[...] = element
    memory.write(extent, data)


def _copy(call: CopyCall, memory: Memory) -> None:
    to, of = call.destination, call.source
    source = _elements(of, memory.read(of.extent)).reshape(-1, of.item)
    data = memory.read(to.extent)
    target = _elements(to, data)
    flat = target.reshape(-1, to.item).copy()
    flat[call.destination_offset : call.destination_offset + call.count] = source[
        call.source_offset : call.source_offset + call.count
    ]
    target[...] = flat.reshape(target.shape)
    memory.write(to.extent, data)


def _elements(ref: ArrayRef, data: Bytes) -> npt.NDArray[np.uint8]:
    low = ref.extent.low
    return np.ndarray(
        (*ref.shape, ref.item), np.uint8, buffer=data, offset=ref.pointer - low, strides=(*ref.strides, 1)
    )
