"""Parts of a recording that belong together, by which operation reads what another wrote."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from retrograde.gradients.backward_on import has_adjoint
from retrograde.trace.extents import Extent
from retrograde.trace.operations import Access, Kind, Operation


def upstream(operations: Sequence[Operation]) -> frozenset[int]:
    """Indices of the operations whose results may reach a seed of a backward pass; rather too many than too few."""
    wanted: list[Extent] = []
    found: set[int] = set()
    for operation in reversed(operations):
        if operation.backward is not None:
            wanted += [a.ref.extent for a in operation.accesses]
            wanted += [seed.ref.extent for seed in operation.backward.seeds]
        elif any(a.usage.writes and _meets(a, wanted) for a in operation.accesses):
            found.add(operation.index)
            wanted += [a.ref.extent for a in operation.accesses if a.usage.load and not _meets(a, wanted)]
    return frozenset(found)


def stood_for(operations: Sequence[Operation], disbelieved: Container[int] = ()) -> frozenset[int]:
    """Indices of the unrecorded operations whose adjoint a recorded function is.

    A function recorded with `Tape.record_func` stands for the work that was done just before without being
    recorded: whatever wrote the function's arrays, back to those of its arrays that this work itself started from.

    Args:
        operations: The operations.
        disbelieved: Indices of recorded functions that are taken for nobody's adjoint.
    """
    found: set[int] = set()
    for position, operation in enumerate(operations):
        if operation.kind is Kind.CALLBACK and operation.index not in disbelieved:
            found |= _work_of(operation, operations[:position])
    return frozenset(found)


def _work_of(callback: Operation, before: Sequence[Operation]) -> set[int]:
    arrays = [a.ref.extent for a in callback.accesses]
    wanted, starts = list(arrays), list[Extent]()
    found: set[int] = set()
    for operation in reversed(before):
        if _is_recorded(operation) or operation.kind in (Kind.BACKWARD, Kind.CALLBACK):
            break
        results = [a for a in operation.accesses if a.usage.writes and _meets(a, wanted) and not _meets(a, starts)]
        if results:
            found.add(operation.index)
        if results or (found and operation.kind is Kind.HOST_READ):
            for access in operation.accesses:
                if access.usage.load:
                    (starts if _meets(access, arrays) else wanted).append(access.ref.extent)
    return found


def _is_recorded(operation: Operation) -> bool:
    """Whether a tape goes back through an operation."""
    return operation.tape is not None and (operation.launch is None or has_adjoint(operation.launch))


def _meets(access: Access, extents: Iterable[Extent]) -> bool:
    return any(access.ref.extent.overlaps(e) for e in extents)
