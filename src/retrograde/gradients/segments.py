"""Horizons split by hand: which launches of a segment's tape repeat which of the forward pass.

The forward pass runs off any tape and keeps the segments' starts; then each segment is run again, on a tape of its
own, from the last to the first. The launches of the tapes, in the order of the segments, repeat those of the forward
pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from retrograde.gradients.ladder import Case
from retrograde.gradients.twins.parameters import extent_of
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Bytes, Extent
from retrograde.trace.operations import Access, Kind, Operation
from retrograde.trace.usage import Path

Cut = tuple[int, Extent]
Argument = tuple[int, Path]


def is_split(case: Case) -> bool:
    """Whether some backward pass of the life carries another one on, or should: it is seeded with nothing."""
    calls = [o.backward for o in case.life.backwards if o.backward is not None]
    return len(calls) > 1 and any(c.continues for c in calls)


def leaves_of(case: Case, backward: Operation) -> list[tuple[Operation, ArrayRef, Path]]:
    """Arrays of which a pass's tape reads what it has not written, but for the parameter, with their first reader.

    What the pass is seeded with and its tape does not write goes through it unchanged, and counts as read by the pass.
    """
    found: dict[int, tuple[Operation, ArrayRef, Path]] = {}
    written: list[ArrayRef] = []
    for operation in _taped(case, backward):
        if operation.index < case.window.first or operation.kind not in (Kind.LAUNCH, Kind.COPY):
            continue
        for access in operation.accesses:
            ref = access.ref
            needed = _needs_old(access) and ref.gradient is not None and not _is_parameter(case, ref)
            if needed and not _covers(written, ref.extent):
                found.setdefault(ref.pointer, (operation, ref, access.path))
        written += [a.ref for a in operation.accesses if a.usage.store]
    for seed in backward.backward.seeds if backward.backward is not None else ():
        ref = seed.ref
        if seed.continued and not _is_parameter(case, ref) and not _covers(written, ref.extent):
            found.setdefault(ref.pointer, (backward, ref, (case.recording.name(ref),)))
    return list(found.values())


def _needs_old(access: Access) -> bool:
    """Whether what an array held before goes into what an operation leaves: it is read, or added to."""
    return access.usage.load or access.usage.accumulate


def _covers(written: Iterable[ArrayRef], extent: Extent) -> bool:
    """Whether arrays without gaps lie on every byte of a range."""
    reached = extent.low
    for low, high in sorted(
        (w.extent.low, w.extent.high) for w in written if w.extent.overlaps(extent) and _is_solid(w)
    ):
        if low > reached:
            return False
        reached = max(reached, high)
    return reached >= extent.high


def _is_solid(ref: ArrayRef) -> bool:
    return ref.scalar is not None and ref.extent.size == ref.size * np.dtype(ref.scalar).itemsize


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


def _run_under(case: Case, backward: Operation) -> list[Operation]:
    """What a pass's tape recorded, and what ran while it was open and was not recorded."""
    return [o for o in case.recording.operations[: backward.index] if backward.tape in (o.tape, o.within)]


def rebuilt_by_host(case: Case, backward: Operation, reader: Operation, ref: ArrayRef) -> Operation | None:
    """The host write that made an array, while a pass's tape was open, of what the host had read meanwhile."""
    before = [o for o in _run_under(case, backward) if o.index < reader.index]
    for position in range(len(before) - 1, -1, -1):
        if any(a.usage.writes and a.ref.extent.overlaps(ref.extent) for a in before[position].accesses):
            left = any(o.kind is Kind.HOST_READ and o.accesses[0].ref.differentiable for o in before[:position])
            return before[position] if before[position].kind is Kind.HOST_WRITE and left else None
    return None


def lost_with(case: Case, backward: Operation, reader: Operation, ref: ArrayRef) -> list[Cut]:
    """Where adjoints of the forward pass are lost if the gradient that a pass left for one of its leaves is.

    Where the leaf got its contents from, by way of copies or not; of a segment that is run again, where the forward
    pass came to it.
    """
    before = [o for o in case.recording.operations[: reader.index] if o.tape is None or o.tape != backward.tape]
    brought = _brought(case, ref.extent, before)
    cuts = brought.copy()
    repeated = [first for _, first in repeated_launches(case).get(backward.tape or 0, ())]
    while brought and repeated:
        cuts += [(min(repeated) - 1, extent) for _, extent in brought]
        index, source = brought[-1]
        brought = _brought(case, source, case.recording.operations[:index]) if len(brought) > 1 else []
    return cuts


def _brought(case: Case, extent: Extent, before: Sequence[Operation]) -> list[Cut]:
    """The last write of some memory, and where from: the operation, and the memory that held the contents after it."""
    for operation in reversed(before):
        if not any(a.usage.writes and a.ref.extent.overlaps(extent) for a in operation.accesses):
            continue
        cuts = [(operation.index, extent)]
        if operation.copy is not None:
            return [*cuts, (operation.index, operation.copy.source.extent)]
        if operation.kind is Kind.HOST_WRITE:
            return [*cuts, *_from_host(case, operation)]
        return cuts if operation.kind is Kind.LAUNCH else []
    return []


def _from_host(case: Case, write: Operation) -> list[Cut]:
    """The host read that brought what a host write writes."""
    for operation in reversed(case.recording.operations[: write.index]):
        if operation.kind is Kind.HOST_READ and same_bytes(operation.data, write.data):
            return [(operation.index, operation.accesses[0].ref.extent)]
    return []


def same_bytes(one: Bytes | None, other: Bytes | None) -> bool:
    """Whether both are known, and equal."""
    return one is not None and other is not None and one.size == other.size and np.array_equal(one, other)


def repeated_launches(case: Case) -> Mapping[int, list[tuple[int, int]]]:
    """By tape, pairs of indices: a launch under the tape, and the one of the forward pass that it repeats."""
    passes = case.life.backwards
    operations = case.recording.operations
    begin = max((o.index for o in operations[: passes[0].index] if o.kind is Kind.BACKWARD), default=-1) + 1
    under = {b.tape: [o for o in _run_under(case, b) if o.launch is not None] for b in passes}
    segments = [(tape, launches) for tape, launches in reversed(list(under.items()))]
    again = [(tape, o) for tape, launches in segments for o in launches]
    kernels = {_key(o) for _, o in again}
    off_tape = [o for o in operations[begin : passes[0].index] if o.launch is not None and o.tape is None]
    forward = [o for o in off_tape if o.within not in under and _key(o) in kernels]
    known = {_key(o) for o in forward}
    again = [(tape, o) for tape, o in again if _key(o) in known]
    pairs: dict[int, list[tuple[int, int]]] = {}
    for (tape, o), first in zip(again, forward, strict=False):
        if _key(o) != _key(first) or tape is None:
            return {}
        if first.index < o.index:
            pairs.setdefault(tape, []).append((o.index, first.index))
    return pairs


def forerunners(case: Case) -> Mapping[int, int]:
    """Of launches that repeat others, by index, the index of the one in the forward pass.

    The ideal gradient goes back through the forward pass alone: what is wrong of a repetition must be put back there.
    """
    if not is_split(case):
        return {}
    return {again: first for pairs in repeated_launches(case).values() for again, first in pairs}


def severed_in_forward(case: Case, accesses: Iterable[tuple[Operation, Access]]) -> frozenset[Argument]:
    """Arguments of the forward pass whose gradients are lost if those of their repetitions are."""
    first = forerunners(case)
    return frozenset((first[o.index], a.path) for o, a in accesses if o.index in first)


def readings_of(case: Case, backward: Operation, ref: ArrayRef) -> list[tuple[Operation, Access]]:
    """Accesses by which launches under a pass's tape read an array, up to the one that writes it."""
    found: list[tuple[Operation, Access]] = []
    for operation in _run_under(case, backward):
        touching = [a for a in operation.accesses if a.ref.extent.overlaps(ref.extent)] if operation.launch else []
        found += [(operation, a) for a in touching if a.usage.load and not a.usage.writes]
        if any(a.usage.writes for a in touching):
            break
    return found


def carried_by_segments(case: Case) -> frozenset[int]:
    """Indices of unrecorded work that a split horizon makes good for.

    That is, launches of the forward pass that a segment's tape repeats, and copies between segments.
    """
    if not is_split(case):
        return frozenset()
    copies = {o.index for o in case.window.operations if o.kind is Kind.COPY and o.tape is None}
    return frozenset({*forerunners(case).values(), *copies})


def _key(operation: Operation) -> tuple[object, ...]:
    call = operation.launch
    assert call is not None
    return (call.kernel.key, call.kernel.module.name, extent_of(call))


def first_readings(case: Case, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those pairs of a tape whose repetition is the first to read some array that it has not written."""
    known: list[ArrayRef] = []
    found: list[tuple[int, int]] = []
    for pair in pairs:
        accesses = case.recording.operations[pair[0]].accesses
        read = [a.ref for a in accesses if _needs_old(a) and a.ref.differentiable]
        if not all(_covers(known, ref.extent) for ref in read):
            found.append(pair)
        known += [a.ref for a in accesses if a.ref.differentiable]
    return found


def other_start(case: Case, pair: tuple[int, int]) -> float:
    """How far what a launch read lies from what the launch that it repeats had read, relative to the latter."""
    again, first = (case.recording.operations[i] for i in pair)
    if first.index < case.window.first:
        return 0.0
    now, then = (case.window.contents_before(o.index) for o in (again, first))
    distance, scale = 0.0, 0.0
    for one, other in zip(again.accesses, first.accesses, strict=False):
        if _needs_old(one) and one.ref.differentiable and one.ref.full_shape == other.ref.full_shape:
            expected = then.values(other.ref)
            distance += float(np.sum((now.values(one.ref) - expected) ** 2))
            scale += float(np.sum(expected**2))
    return float(np.sqrt(distance / scale)) if scale > 0.0 else float(distance > 0.0)
