"""Horizons split by hand: which launches of a segment's tape repeat which of the forward pass.

The forward pass runs off any tape and keeps the segments' starts; then each segment is run again, on a tape of its
own, from the last to the first. The launches of the tapes, in the order of the segments, repeat those of the forward
pass.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from retrograde.gradients.ladder import Case
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Bytes, Extent
from retrograde.trace.operations import Kind, Operation

Cut = tuple[int, Extent]


def is_split(case: Case) -> bool:
    """Whether some backward pass of the life carries another one on."""
    calls = [o.backward for o in case.life.backwards if o.backward is not None]
    return any(seed.continued for call in calls for seed in call.seeds)


def leaves_of(case: Case, backward: Operation) -> list[tuple[Operation, ArrayRef, tuple[str, ...]]]:
    """Arrays that a pass's tape reads before it writes them, but for the parameter, with their first reader.

    What the pass is seeded with and its tape does not touch goes through it unchanged, and counts as read by the pass.
    """
    found: dict[int, tuple[Operation, ArrayRef, tuple[str, ...]]] = {}
    written: list[Extent] = []
    for operation in case.window.operations[: backward.index - case.window.first]:
        if operation.tape != backward.tape or operation.kind not in (Kind.LAUNCH, Kind.COPY):
            continue
        for access in operation.accesses:
            ref = access.ref
            fresh = not any(e.overlaps(ref.extent) for e in written)
            if access.usage.load and fresh and ref.gradient is not None and not _is_parameter(case, ref):
                found.setdefault(ref.pointer, (operation, ref, access.path))
        written += [a.ref.extent for a in operation.accesses if a.usage.writes]
    for seed in backward.backward.seeds if backward.backward is not None else ():
        if (
            seed.continued
            and not _is_parameter(case, seed.ref)
            and not any(e.overlaps(seed.ref.extent) for e in written)
        ):
            found.setdefault(seed.ref.pointer, (backward, seed.ref, (case.recording.name(seed.ref),)))
    return list(found.values())


def _is_parameter(case: Case, ref: ArrayRef) -> bool:
    return ref.extent.overlaps(case.life.ref.extent)


def is_carried(case: Case, backward: Operation, ref: ArrayRef) -> bool:
    """Whether a later pass goes on from the gradient that a pass left for one of its tape's leaves."""
    gradient = ref.gradient_extent
    for later in case.life.backwards:
        if later.index <= backward.index or later.backward is None:
            continue
        if any(
            s.source is not None and gradient is not None and s.source.overlaps(gradient) for s in later.backward.seeds
        ):
            return True
        if any(a.usage.writes and a.ref.extent == ref.extent for o in _taped(case, later) for a in o.accesses):
            return True
    return False


def _taped(case: Case, backward: Operation) -> list[Operation]:
    return [o for o in case.recording.operations[: backward.index] if o.tape == backward.tape]


def origin(case: Case, ref: ArrayRef, before: int) -> list[Cut]:
    """Where an array got its contents from: the operation, and the memory that held them just after it."""
    operations = case.recording.operations
    for operation in reversed(operations[:before]):
        for access in operation.accesses:
            if not access.usage.writes or not access.ref.extent.overlaps(ref.extent):
                continue
            cuts = [(operation.index, ref.extent)]
            if operation.copy is not None:
                cuts.append((operation.index, operation.copy.source.extent))
            elif operation.kind is Kind.HOST_WRITE:
                cuts += _from_host(case, operation)
            elif operation.kind is not Kind.LAUNCH:
                return []
            return cuts
    return []


def _from_host(case: Case, write: Operation) -> list[Cut]:
    """The host read that brought what a host write writes."""
    for operation in reversed(case.recording.operations[: write.index]):
        if operation.kind is Kind.HOST_READ and _equal(operation.data, write.data):
            return [(operation.index, operation.accesses[0].ref.extent)]
    return []


def _equal(one: Bytes | None, other: Bytes | None) -> bool:
    return one is not None and other is not None and one.size == other.size and np.array_equal(one, other)


def repeated_launches(case: Case) -> Mapping[int, list[tuple[int, int]]]:
    """By tape, pairs of indices: a launch on the tape, and the one of the forward pass that it repeats."""
    passes = case.life.backwards
    operations = case.recording.operations
    begin = max((o.index for o in operations[: passes[0].index] if o.kind is Kind.BACKWARD), default=-1) + 1
    taped = {b.tape: [o for o in _taped(case, b) if o.launch is not None] for b in passes}
    segments = [(tape, launches) for tape, launches in reversed(list(taped.items()))]
    again = [(tape, o) for tape, launches in segments for o in launches]
    kernels = {_key(o) for _, o in again}
    forward = [
        o for o in operations[begin : passes[0].index] if o.launch is not None and o.tape is None and _key(o) in kernels
    ]
    known = {_key(o) for o in forward}
    again = [(tape, o) for tape, o in again if _key(o) in known]
    pairs: dict[int, list[tuple[int, int]]] = {}
    for (tape, o), first in zip(again, forward, strict=False):
        if _key(o) != _key(first) or tape is None:
            return {}
        if first.index < o.index:
            pairs.setdefault(tape, []).append((o.index, first.index))
    return pairs


def carried_by_segments(case: Case) -> frozenset[int]:
    """Indices of unrecorded work that a split horizon makes good for.

    That is, launches of the forward pass that a segment's tape repeats, and copies between segments.
    """
    if not is_split(case):
        return frozenset()
    repeated = {first for pairs in repeated_launches(case).values() for _, first in pairs}
    copies = {o.index for o in case.window.operations if o.kind is Kind.COPY and o.tape is None}
    return frozenset(repeated | copies)


def _key(operation: Operation) -> tuple[object, ...]:
    call = operation.launch
    assert call is not None
    return (call.kernel.key, call.kernel.module.name, str(call.dim))


def other_start(case: Case, pair: tuple[int, int]) -> float:
    """How far what a launch read lies from what the launch that it repeats had read, relative to the latter."""
    again, first = (case.recording.operations[i] for i in pair)
    if first.index < case.window.first:
        return 0.0
    now, then = (case.window.contents_before(o.index) for o in (again, first))
    distance, scale = 0.0, 0.0
    for one, other in zip(again.accesses, first.accesses, strict=False):
        if one.usage.load and one.ref.differentiable and one.ref.full_shape == other.ref.full_shape:
            expected = then.values(other.ref)
            distance += float(np.sum((now.values(one.ref) - expected) ** 2))
            scale += float(np.sum(expected**2))
    return float(np.sqrt(distance / scale)) if scale > 0.0 else float(distance > 0.0)
