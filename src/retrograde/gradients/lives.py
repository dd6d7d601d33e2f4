"""Lives of parameters: from one update to the next, with what was consumed in between."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from retrograde.gradients.by_number import versions_by_number
from retrograde.gradients.consumption import CLEARS, assembled, consumed_gradient, put_aside, touches
from retrograde.gradients.life import Life, taped_gradient
from retrograde.gradients.memory import gradient_values
from retrograde.gradients.nested import nest
from retrograde.gradients.orphans import Orphan, find_orphans
from retrograde.gradients.parameters import find_owners, first_use, made_anew_by_name
from retrograde.gradients.versions import Version, from_its_origin, versions_of
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import Key
from retrograde.trace.operations import TORCH, Kind, Operation, Recording

Float = npt.NDArray[np.float64]


def find_lives(recording: Recording) -> tuple[Life, ...]:
    """All lives of all parameters whose gradients the program uses, in program order.

    Where the program reads no gradient at all, every leaf that a tape reads counts as a parameter.
    """
    lives: list[Life] = []
    by_name: dict[str, list[Life]] = {}
    owners, are_read = find_owners(recording)
    orphans = find_orphans(recording, owners)
    owners += [replace(o.read, gradient=o.stepped.gradient) for o in _once(orphans)]
    made_anew = made_anew_by_name(recording, owners)
    aside = put_aside(recording)
    for ref in sorted(owners, key=lambda r: first_use(recording, r)):
        missed = frozenset(o.step.index for o in orphans if o.read.pointer == ref.pointer)
        for version in versions_of(recording, ref, missed):
            if not version.taped and any(o.stepped.pointer == ref.pointer for o in orphans):
                continue
            life = _life(recording, ref, from_its_origin(recording, ref, version), by_name, made_anew, aside)
            if life is not None and are_read and not life.readings:
                continue
            if life is not None:
                life = _orphaned(life, orphans)
                lives.append(life)
                by_name.setdefault(life.name, []).append(life)
    lives += _lives_by_number(recording, made_anew, by_name)
    lives = nest(recording, lives)
    return tuple(sorted(lives, key=lambda life: (life.first.index, life.name)))


def _once(orphans: Sequence[Orphan]) -> list[Orphan]:
    """Arrays that are read while another one is stepped by its own gradient, each once."""
    return list({o.read.pointer: o for o in orphans if o.gradient is o.stepped}.values())


def _orphaned(life: Life, orphans: Sequence[Orphan]) -> Life:
    """A life whose parameter a step missed: what reached the parameter is nothing, or another array's gradient.

    A step that missed it once is taken to miss it until the end, where nothing comes after that could tell.
    """
    known = [o for o in orphans if o.read.pointer == life.ref.pointer and o.backward.index <= life.last]
    if not known:
        return life
    orphan = known[-1]
    if orphan.gradient is orphan.read:
        nothing = None if life.consumed is None else np.zeros_like(life.consumed)
        return replace(life, orphan=orphan, meant=_added(orphan.read, life.backwards), consumed=nothing)
    return replace(life, orphan=orphan, meant=_added(orphan.read, life.backwards))


def _added(ref: ArrayRef, backwards: Sequence[Operation]) -> Float | None:
    """What some backward passes added to an array's gradient, all together; None where one was not seen."""
    gradient = ref.gradient_extent
    total = np.zeros(ref.full_shape)
    for operation in backwards:
        call = operation.backward
        after = None if call is None or gradient is None else assembled(call.taped, gradient)
        before = None if call is None or gradient is None else assembled(call.before, gradient)
        if after is None or before is None:
            return None
        total += gradient_values(after, ref) - gradient_values(before, ref)
    return total


def _life(
    recording: Recording,
    ref: ArrayRef,
    version: Version,
    by_name: dict[str, list[Life]],
    made_anew: dict[str, list[ArrayRef]],
    aside: Set[Key] = frozenset(),
) -> Life | None:
    first = version.reads[0]
    end = version.end.index if version.end is not None else _end_of_unended(recording, ref, first.index, made_anew)
    in_torch = ref.gradient in recording.in_torch
    backwards = tuple(b for b in _backwards(recording, version, first.index, end) if (b.tape == TORCH) == in_torch)
    if not backwards:
        return None
    if version.end is None:
        backwards = _before_the_last_reading(recording, ref, backwards)
    stop = max(end, backwards[-1].index + 1) if version.end is None else end
    seen = _seen_by_consumer(recording, ref, backwards, stop)
    lost = max((b.index for b in backwards if b not in seen), default=-1)
    first = next((o for o in version.reads if o.index > lost), first)
    backwards = seen
    stop = max(stop, version.last)
    slot = next((slot for slot, load, _ in touches(first, ref.extent) if load), 0)
    name = recording.name(ref)
    earlier = tuple(life.taped for life in reversed(by_name.get(name, [])) if life.taped is not None)
    successor = _successor(recording, ref, version, made_anew)
    readings, consumed, cleared = consumed_gradient(
        recording, ref, backwards, version.end, stop, successor, aside, version.begin
    )
    taped = taped_gradient(ref, backwards, readings)
    return Life(
        name=name,
        ref=ref,
        iteration=len(by_name.get(name, [])),
        first=first,
        slot=slot,
        offset=ref.pointer - first.accesses[slot].ref.pointer,
        backwards=backwards,
        update=version.end,
        readings=readings,
        consumed=consumed if consumed is not None else taped,
        taped=taped,
        cleared=cleared,
        earlier=earlier,
        in_torch=in_torch,
    )


def _before_the_last_reading(
    recording: Recording, ref: ArrayRef, backwards: tuple[Operation, ...]
) -> tuple[Operation, ...]:
    """Passes whose gradient was read; the rest is of an iteration that was not recorded to its end."""
    gradient = ref.gradient_extent
    if gradient is None:
        return backwards
    last = max(
        (
            o.index
            for o in recording.operations[backwards[0].index :]
            if o.kind is not Kind.HOST_WRITE and any(e.overlaps(gradient) for e in o.gradients)
        ),
        default=len(recording.operations),
    )
    return tuple(b for b in backwards if b.index < last)


def _lives_by_number(
    recording: Recording, made_anew: dict[str, list[ArrayRef]], by_name: dict[str, list[Life]]
) -> list[Life]:
    """Lives of parameters that nothing reads, although launches are given their numbers."""
    lives: list[Life] = []
    for name, refs in made_anew.items():
        if name in by_name or not _reads_gradients(recording):
            continue
        for found in versions_by_number(recording, refs):
            ref = next(r for r in refs if r.extent == found.begin.accesses[0].ref.extent)
            version = Version(found.begin.index, found.end, 0, found.launches, found.launches)
            life = _life(recording, ref, version, by_name, made_anew)
            if life is not None and life.readings:
                lives.append(replace(life, numbers=found.uses))
                by_name.setdefault(name, []).append(life)
    return lives


def _reads_gradients(recording: Recording) -> bool:
    return any(o.gradients for o in recording.operations if o.kind is not Kind.HOST_WRITE)


def _end_of_unended(recording: Recording, ref: ArrayRef, first: int, made_anew: dict[str, list[ArrayRef]]) -> int:
    """Where the life of a parameter ends that no write ends: where its successor is first used."""
    siblings = made_anew.get(recording.name(ref), [])
    later = [first_use(recording, s) for s in siblings if s is not ref]
    return min((i for i in later if i > first), default=len(recording.operations))


def _backwards(recording: Recording, version: Version, first: int, end: int) -> tuple[Operation, ...]:
    """Backward passes that belong to a version.

    Those of the tapes that read it, or that were open when something unrecorded did, before its end. Where one of these
    carries on what another pass left, or where there are none (the state is carried to another tape), all passes before
    its end; else the next of its tapes.
    """
    tapes = {o.tape for o in version.taped} | {o.within for o in version.reads if o.within is not None}
    inside = tuple(o for o in recording.operations[first:end] if o.kind is Kind.BACKWARD)
    mine = tuple(o for o in inside if o.tape in tapes)
    if mine and not any(o.backward is None or (o.backward.loss is None and o.backward.continues) for o in mine):
        return mine
    if inside:
        return inside
    for operation in recording.operations[end:]:
        if operation.kind is Kind.BACKWARD and operation.tape in tapes:
            return (operation,)
    return ()


def _seen_by_consumer(
    recording: Recording, ref: ArrayRef, backwards: tuple[Operation, ...], stop: int
) -> tuple[Operation, ...]:
    """Leave out passes whose gradient was cleared, unread, before the last pass began."""
    gradient = ref.gradient_extent
    if gradient is None:
        return backwards
    kept: list[Operation] = []
    for operation, following in zip(backwards, [*backwards[1:], None], strict=True):
        limit = stop if following is None else following.index
        fate = "kept"
        for later in recording.operations[operation.index + 1 : limit]:
            if any(e.overlaps(gradient) for e in later.gradients) and later.kind is not Kind.HOST_WRITE:
                break
            if later.kind in CLEARS and any(a.ref.extent.overlaps(gradient) for a in later.accesses):
                fate = "lost"
                break
        if fate == "kept" or following is None:
            kept.append(operation)
    return tuple(kept)


def _successor(
    recording: Recording, ref: ArrayRef, version: Version, made_anew: dict[str, list[ArrayRef]]
) -> ArrayRef | None:
    if version.end is not None:
        return ref
    siblings = made_anew.get(recording.name(ref), [])
    position = siblings.index(ref) if ref in siblings else -1
    return siblings[position + 1] if 0 <= position < len(siblings) - 1 else None
