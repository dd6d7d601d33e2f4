"""Volumes whose voxels stay what they were when kernels first read them: nobody needs a copy of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from retrograde.trace.extents import Extent
from retrograde.trace.objects import ObjectRef
from retrograde.trace.operations import Access, Operation


def without_settled_volumes(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations, with the mere numbers of volumes that nothing changes once they were read."""
    read: set[Extent] = set()
    changed: set[Extent] = set()
    for operation in operations:
        for access in operation.accesses:
            if access.usage.writes:
                changed |= {extent for extent in read if extent.overlaps(access.ref.extent)}
        for access in _of_volumes(operation):
            if access.usage.load:
                read.add(access.ref.extent)
                if access.usage.writes:
                    changed.add(access.ref.extent)
    return tuple(_settled(operation, changed) for operation in operations)


def _of_volumes(operation: Operation) -> Iterator[Access]:
    call = operation.launch
    for access in operation.accesses if call is not None else ():
        argument = call.arguments[access.position] if call is not None else None
        if isinstance(argument, ObjectRef) and argument.is_written:
            yield access


def _settled(operation: Operation, changed: set[Extent]) -> Operation:
    left_out = [a for a in _of_volumes(operation) if a.ref.extent not in changed]
    if not left_out or operation.launch is None:
        return operation
    arguments = list(operation.launch.arguments)
    for access in left_out:
        argument = arguments[access.position]
        arguments[access.position] = argument.identity if isinstance(argument, ObjectRef) else argument
    accesses = tuple(a for a in operation.accesses if not any(a is other for other in left_out))
    return replace(operation, accesses=accesses, call=replace(operation.launch, arguments=tuple(arguments)))
