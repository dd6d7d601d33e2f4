"""Steps that reach another array than the one that the program reads.

An optimizer holds arrays. If the program makes its parameter anew, the optimizer still steps the old array, with the
old array's gradient or with the new one's, and what the loss is computed from stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from retrograde.gradients.consumption import touches
from retrograde.trace.arrays import ArrayRef, describe, root_of
from retrograde.trace.operations import Kind, Operation, Recording
from retrograde.trace.plan import values_in

Passes = tuple[Operation, ...]

_FOLLOWS = 0.999


@dataclass(frozen=True, eq=False)
class Orphan:
    """A step and the two arrays that it should not tell apart.

    Attributes:
        stepped: The array that the step changed.
        read: The array that the loss is computed from.
        gradient: Of which of the two the step took the gradient.
        step: The operation that changed the first.
        backward: The last backward pass before it whose tape depends on the second.
    """

    stepped: ArrayRef
    read: ArrayRef
    gradient: ArrayRef
    step: Operation
    backward: Operation


def find_orphans(recording: Recording, owners: Sequence[ArrayRef]) -> tuple[Orphan, ...]:
    """Steps of arrays that no backward pass before them and no later one depends on.

    Args:
        recording: The recording.
        owners: Leaves whose gradients the program reads.
    """
    found: list[Orphan] = []
    for passes, steps in _rounds(recording):
        for step in steps:
            found += _of_step(recording, owners, passes, step)
    return tuple(found)


def _rounds(recording: Recording) -> Iterator[tuple[Passes, list[Operation]]]:
    """Backward passes with nothing between them that may be a step, and what may be one after the last of them."""
    passes: list[Operation] = []
    steps: list[Operation] = []
    read = False
    for operation in recording.operations:
        if operation.kind is Kind.BACKWARD:
            if steps:
                yield tuple(passes), steps
                passes, steps = [], []
            passes.append(operation)
            read = False
        elif passes and operation.tape is None:
            read = read or (operation.kind is Kind.HOST_READ and bool(operation.gradients))
            if _may_step(recording, operation, read):
                steps.append(operation)
    if steps:
        yield tuple(passes), steps


def _may_step(recording: Recording, operation: Operation, read: bool) -> bool:
    """Whether an operation reads a gradient in a launch, or is a host write onto an array once one was read."""
    if operation.kind is Kind.LAUNCH:
        return bool(operation.gradients)
    return operation.kind is Kind.HOST_WRITE and read and bool(recording.undo.get(operation.index))


def _of_step(recording: Recording, owners: Sequence[ArrayRef], passes: Passes, step: Operation) -> Iterator[Orphan]:
    for access in step.accesses:
        stepped = access.ref
        if not access.usage.writes or not _is_unused(recording, passes, step, stepped):
            continue
        if _reads_gradient(recording, passes, step, stepped):
            read, gradient = _unread_leaf(recording, owners, passes, stepped), stepped
        else:
            read = gradient = _other_owner(recording, owners, passes, step, stepped)
        if read is not None and gradient is not None:
            backward = next((b for b in reversed(passes) if _is_taped(recording, (b,), read)), passes[-1])
            yield Orphan(stepped, read, gradient, step, backward)


def _is_unused(recording: Recording, passes: Passes, step: Operation, ref: ArrayRef) -> bool:
    """Whether an array has a gradient, and neither the loss just differentiated nor a later one depends on it."""
    if ref.gradient is None or not ref.differentiable:
        return False
    return not _is_taped(recording, passes, ref) and not _is_read_after(recording, ref, step)


def _other_owner(
    recording: Recording, owners: Sequence[ArrayRef], passes: Passes, step: Operation, stepped: ArrayRef
) -> ArrayRef | None:
    """The array that is read, of which a step takes the gradient to change another one by."""
    for owner in owners:
        used = _reads_gradient(recording, passes, step, owner) and not _is_written(step, owner)
        fitting = used and _alike(owner, stepped) and _is_taped(recording, passes, owner)
        if fitting and _follows(recording, passes, step, stepped, owner):
            return owner
    return None


def _alike(one: ArrayRef, other: ArrayRef) -> bool:
    return one.full_shape == other.full_shape and one.scalar is other.scalar and not one.extent.overlaps(other.extent)


def _is_written(step: Operation, ref: ArrayRef) -> bool:
    return any(write for _, _, write in touches(step, ref.extent))


def _is_taped(recording: Recording, passes: Passes, ref: ArrayRef) -> bool:
    """Whether the tape of one of some backward passes, or anything before it in this iteration, reads an array.

    A reading by the host counts if something that may hold what it read is written after it.
    """
    before = recording.operations[: passes[0].index]
    begin = max((o.index for o in before if o.kind is Kind.BACKWARD), default=-1)
    tapes = {b.tape for b in passes}
    by_host = False
    for operation in recording.operations[: passes[-1].index]:
        if operation.tape not in tapes and operation.index <= begin:
            continue
        if operation.kind is Kind.HOST_READ:
            by_host = by_host or operation.accesses[0].ref.extent.overlaps(ref.extent)
        elif any(load and not write for _, load, write in touches(operation, ref.extent)):
            return True
        if by_host and operation.kind is Kind.HOST_WRITE and _could_bring(recording, operation, ref):
            return True
    return False


def _is_read_after(recording: Recording, ref: ArrayRef, step: Operation) -> bool:
    """Whether anything but further steps of it reads an array once it was stepped, or nothing came after at all."""
    read, later = False, False
    for operation in recording.operations[step.index + 1 :]:
        later = later or operation.kind is Kind.BACKWARD
        for _, load, write in touches(operation, ref.extent):
            if operation.kind is Kind.HOST_READ:
                read = True
            elif load and not write:
                return True
        if read and operation.kind is Kind.HOST_WRITE and _could_bring(recording, operation, ref):
            return True
    return not later


def _could_bring(recording: Recording, write: Operation, ref: ArrayRef) -> bool:
    """Whether a write from the host may bring an array's contents elsewhere, to something that is read there."""
    target = write.accesses[0].ref
    if not target.differentiable or target.size != ref.size or target.extent.overlaps(ref.extent):
        return False
    return any(
        load and not store
        for o in recording.operations[write.index + 1 :]
        if o.kind is not Kind.HOST_READ
        for _, load, store in touches(o, target.extent)
    )


def _reads_gradient(recording: Recording, passes: Passes, step: Operation, ref: ArrayRef) -> bool:
    """Whether a step reads an array's gradient: itself, or the host did since the backward pass."""
    gradient = ref.gradient_extent
    if gradient is None:
        return False
    readers = [step] if step.kind is Kind.LAUNCH else recording.operations[passes[0].index + 1 : step.index]
    return any(e.overlaps(gradient) for o in readers if o.kind is not Kind.HOST_WRITE for e in o.gradients)


def _follows(recording: Recording, passes: Passes, step: Operation, stepped: ArrayRef, owner: ArrayRef) -> bool:
    """Whether a write from the host moves an array along another one's gradient; launches speak for themselves."""
    if step.kind is Kind.LAUNCH:
        return True
    before = [u for u in recording.undo.get(step.index, ()) if u.extent == stepped.extent]
    between = recording.operations[passes[0].index + 1 : step.index]
    read = [data for o in between for e, data in o.gradients.items() if e == owner.gradient_extent]
    if not before or not read or step.data is None or step.data.size != stepped.extent.size:
        return False
    moved = values_in(step.data, stepped.extent, stepped) - values_in(before[0].data, stepped.extent, stepped)
    used = values_in(read[-1], owner.extent, owner)
    size = float(np.linalg.norm(moved) * np.linalg.norm(used))
    return size > 0.0 and abs(float(np.vdot(moved, used))) > _FOLLOWS * size


def _unread_leaf(
    recording: Recording, owners: Sequence[ArrayRef], passes: Passes, stepped: ArrayRef
) -> ArrayRef | None:
    """The leaf of some tapes that a step of another array was meant for: of its name, else the only one of its kind."""
    known = {o.gradient for o in owners}
    written: set[int] = set()
    found: dict[int, ArrayRef] = {}
    tapes = {b.tape for b in passes}
    for operation in recording.operations[: passes[-1].index]:
        if operation.tape not in tapes or operation.kind not in (Kind.LAUNCH, Kind.COPY):
            continue
        for access in operation.accesses:
            ref = access.ref
            only_read = access.usage.load and not access.usage.writes
            fresh = only_read and ref.gradient is not None and _memory(ref) not in written
            if fresh:
                whole = ref if _alike(ref, stepped) else describe(root_of(ref.array))
                if whole is not None and whole.gradient not in (None, *known) and _alike(whole, stepped):
                    found.setdefault(whole.pointer, whole)
            if access.usage.writes:
                written.add(_memory(ref))
    name = recording.name(stepped)
    named = [r for r in found.values() if recording.name(r) == name]
    if len(named) == 1:
        return named[0]
    rivals = _stepped_alike(recording, passes, stepped)
    return list(found.values())[rivals.index(stepped.pointer)] if len(rivals) == len(found) else None


def _memory(ref: ArrayRef) -> int:
    """Address of the array that a view is of, of any other array its own."""
    return int(getattr(root_of(ref.array), "ptr", None) or ref.pointer)


def _stepped_alike(recording: Recording, passes: Passes, stepped: ArrayRef) -> list[int]:
    """Addresses of the arrays of one kind that are stepped by their own gradient after a backward pass, in order."""
    found: dict[int, None] = {}
    for operation in recording.operations[passes[-1].index + 1 :]:
        if operation.kind is Kind.BACKWARD:
            break
        for access in operation.accesses:
            ref = access.ref
            like = ref.full_shape == stepped.full_shape and ref.scalar is stepped.scalar and ref.gradient is not None
            written = operation.tape is None and access.usage.writes and operation.kind is not Kind.FILL
            own = like and written and _reads_gradient(recording, passes, operation, ref)
            if own and not _is_taped(recording, passes, ref):
                found[ref.pointer] = None
    return list(found)
