"""Whose gradients lay in buffers between parameter and loss when a backward pass began.

Either an earlier pass of the same life left them, in buffers that its tape uses as well or that were copied from such;
or they are of an earlier life, which nothing cleared.
"""

from __future__ import annotations

from collections.abc import Iterator

from retrograde.gradients.ladder import Case
from retrograde.trace.extents import Extent
from retrograde.trace.operations import Kind, Operation


def begun_with_own(case: Case) -> list[Operation]:
    """Backward passes of a life that began with gradients of an earlier pass of this life."""
    return [o for o in case.life.backwards if any(_is_own(case, o, e) for e in _between(case, o))]


def begun_with_earlier(case: Case) -> list[Operation]:
    """Backward passes of a life that began with gradients of an earlier life."""
    return [o for o in case.life.backwards if any(not _is_own(case, o, e) for e in _between(case, o))]


def _between(case: Case, operation: Operation) -> list[Extent]:
    """Buffers that were not zero, but for the parameter's, and those that the pass itself sets."""
    call = operation.backward
    if call is None:
        return []
    return [e for e in call.leftovers if e.low != case.life.ref.gradient and e.low not in call.replaced]


def _is_own(case: Case, operation: Operation, buffer: Extent) -> bool:
    """Whether an earlier pass of the life may have left what lies in a buffer."""
    for earlier in case.life.backwards:
        if earlier.index >= operation.index:
            break
        sources = {buffer, *_copied_from(case, buffer, earlier.index, operation.index)}
        if any(e.overlaps(s) for e in _gradients(case, earlier) for s in sources):
            return True
    return False


def _gradients(case: Case, backward: Operation) -> Iterator[Extent]:
    for operation in case.recording.operations[: backward.index]:
        if operation.tape == backward.tape and operation.kind is not Kind.BACKWARD:
            yield from (e for a in operation.accesses if (e := a.ref.gradient_extent) is not None)


def _copied_from(case: Case, buffer: Extent, begin: int, end: int) -> Iterator[Extent]:
    """Buffers whose gradient a copy took along between two moments: Warp's copies do where both arrays have one."""
    for operation in case.recording.operations[begin:end]:
        if operation.copy is not None:
            to, of = operation.copy.destination.gradient_extent, operation.copy.source.gradient_extent
            if to is not None and of is not None and to.overlaps(buffer):
                yield of
