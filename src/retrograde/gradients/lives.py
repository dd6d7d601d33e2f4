"""Parameters and their lives: from one update to the next, with what was consumed in between.

A parameter is a float array whose gradient the program reads for itself. A life is the time during
which its contents stay as they are: a forward pass reads them, a backward pass differentiates, an
update ends the life. Accumulating gradients over several backward passes without an update is one life.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from retrograde.gradients.by_number import NumberUse, versions_by_number
from retrograde.gradients.consumption import (
    CLEARS,
    Reading,
    assembled,
    consumed_gradient,
    put_aside,
    readings_of,
    touches,
)
from retrograde.gradients.leaves import TapedUses
from retrograde.gradients.orphans import Orphan, find_orphans
from retrograde.gradients.sweep import gradient_values
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import Key
from retrograde.trace.extents import Extent
from retrograde.trace.operations import SHARED, TORCH, Kind, Operation, Recording

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Life:
    """One life of one parameter.

    Attributes:
        name: What the program calls the parameter.
        ref: The parameter.
        iteration: Zero-based number of the life.
        first: Operation that first reads the contents.
        slot: Index of the access by which it does.
        offset: Address of the parameter minus the address of the array accessed [byte].
        backwards: Backward passes whose gradients the consumer can have seen.
        update: Operation that ends the life, None where the parameter is made anew or the program ends.
        readings: Readings of the gradient that make up what was consumed.
        consumed: The gradient that was used.
        taped: The gradient at the end of the backward passes.
        cleared: A clear of the gradient between the backward pass and its use, if any.
        earlier: Gradients taped for earlier lives, the latest first.
        numbers: Where launches are given the contents by value, for a parameter that no operation reads.
        orphan: A step that should have changed the parameter and changed another array.
        meant: The gradient that the tape left for the parameter, where such a step took another one or none.
        in_torch: Whether it is a parameter of torch: used, differentiated and updated there.
        inner: Of a parameter of torch, the lives of its contents in Warp within torch's backward passes.
        nested: Whether its backward passes run within those of torch.
    """

    name: str
    ref: ArrayRef
    iteration: int
    first: Operation
    slot: int
    offset: int
    backwards: tuple[Operation, ...]
    update: Operation | None
    readings: tuple[Reading, ...]
    consumed: Float | None
    taped: Float | None
    cleared: Operation | None = None
    earlier: tuple[Float, ...] = field(default=())
    numbers: tuple[NumberUse, ...] = field(default=())
    orphan: Orphan | None = None
    meant: Float | None = None
    in_torch: bool = False
    inner: tuple[Life, ...] = field(default=())
    nested: bool = False

    @property
    def last(self) -> int:
        """Index of the last backward pass."""
        return self.backwards[-1].index


@dataclass(frozen=True, eq=False)
class _Version:
    """Contents of an array between two writes from outside any tape.

    The writes that end it may come in pieces: `end` is the first of them, `last` the index after the last.
    """

    begin: int
    end: Operation | None
    last: int
    reads: tuple[Operation, ...]
    taped: tuple[Operation, ...]


def find_lives(recording: Recording) -> tuple[Life, ...]:
    """All lives of all parameters whose gradients the program uses, in program order.

    Where the program reads no gradient at all, every leaf that a tape reads counts as a parameter.
    """
    lives: list[Life] = []
    by_name: dict[str, list[Life]] = {}
    owners, are_read = _owners(recording)
    orphans = find_orphans(recording, owners)
    owners += [replace(o.read, gradient=o.stepped.gradient) for o in _once(orphans)]
    made_anew = _made_anew(recording, owners)
    aside = put_aside(recording)
    for ref in sorted(owners, key=lambda r: _first_use(recording, r)):
        missed = frozenset(o.step.index for o in orphans if o.read.pointer == ref.pointer)
        for version in _versions(recording, ref, missed):
            if not version.taped and any(o.stepped.pointer == ref.pointer for o in orphans):
                continue
            life = _life(recording, ref, _from_its_origin(recording, ref, version), by_name, made_anew, aside)
            if life is not None and are_read and not life.readings:
                continue
            if life is not None:
                life = _orphaned(life, orphans)
                lives.append(life)
                by_name.setdefault(life.name, []).append(life)
    lives += _lives_by_number(recording, made_anew, by_name)
    lives = _nest(recording, lives)
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


def reads_gradients(recording: Recording) -> bool:
    """Whether the program has read a leaf's gradient for itself."""
    return _owners(recording)[1]


def _nest(recording: Recording, lives: Sequence[Life]) -> list[Life]:
    """Tell lives within torch's backward passes from others, and hand them to the parameters of torch they serve."""
    passes = [o for o in recording.operations if o.kind is Kind.BACKWARD and o.tape == TORCH]

    def around(life: Life, outer: Sequence[Operation]) -> bool:
        return all(any(t.ordinal < b.ordinal and b.index < t.index for t in outer) for b in life.backwards)

    marked = [replace(life, nested=not life.in_torch and around(life, passes)) for life in lives] if passes else lives
    marked = [_within_torch(recording, life, passes) if life.nested else life for life in marked]
    nested = [life for life in marked if life.nested]
    return [
        replace(life, inner=tuple(n for n in nested if n.ref.extent == life.ref.extent and around(n, life.backwards)))
        if life.in_torch
        else life
        for life in marked
    ]


def _within_torch(recording: Recording, life: Life, passes: Sequence[Operation]) -> Life:
    """A life within torch's backward passes, of which torch takes what each returns and adds it to the rest.

    It has the passes of its own array, not those of others on the same memory; what is returned of each counts.
    """
    assert life.ref.gradient_extent is not None
    between = recording.operations[life.first.index : life.last]
    mine = {o.tape for o in between if any(f.gradient == life.ref.gradient for a in o.accesses for f in a.ref.leaves)}
    backwards = tuple(b for b in life.backwards if b.tape in mine) or life.backwards
    readings: list[Reading] = []
    for outer in passes:
        inside = [b.index for b in backwards if outer.ordinal < b.ordinal and b.index < outer.index]
        if inside:
            readings += readings_of(recording, life.ref, max(inside) + 1, outer.index)[-1:]
    if len(readings) < 2:
        return replace(life, backwards=backwards, taped=_taped(life.ref, backwards, life.readings))
    consumed = sum((r.values for r in readings[1:]), readings[0].values)
    taped = _taped(life.ref, backwards, readings)
    return replace(life, backwards=backwards, readings=tuple(readings), consumed=consumed, taped=taped)


# -- who is a parameter --------------------------------------------------------------------------------


def _owners(recording: Recording) -> tuple[list[ArrayRef], bool]:
    """Leaves whose gradient buffers are read outside backward passes; where none is, all that the tapes read.

    Returns:
        The leaves, and whether their gradients are read.
    """
    by_gradient: dict[int, ArrayRef] = {}
    for operation in recording.operations:
        for access in operation.accesses:
            for leaf in access.ref.leaves if access.ref.gradient is not None else ():
                assert leaf.gradient is not None
                known = by_gradient.get(leaf.gradient)
                if known is None or known.size < leaf.size:
                    by_gradient[leaf.gradient] = leaf
    read = _read_for_themselves(recording)
    uses = TapedUses.of(recording, list(by_gradient.values()))
    leaves = [ref for ref in by_gradient.values() if uses.is_leaf(ref)]
    chosen = [ref for ref in leaves if _is_read(ref, read)]
    if chosen:
        return chosen, True
    return [ref for ref in leaves if uses.is_launched(ref)], False


def _is_read(ref: ArrayRef, read: Set[Extent]) -> bool:
    """Whether the gradient was among the ranges read: from its beginning on, or with the struct that it is part of."""
    gradient = ref.gradient_extent
    assert gradient is not None
    if ref.field:
        return any(e.contains(gradient) for e in read)
    return any(e.low == gradient.low for e in read)


def _read_for_themselves(recording: Recording) -> set[Extent]:
    """Gradient buffers that the program reads, but for what it reads to seed another backward pass with it.

    The line that reads such a gradient may read one more, which nothing is left to be seeded with.
    """
    readings = [o for o in recording.operations if o.kind is not Kind.HOST_WRITE and o.gradients]
    lines, before = set(put_aside(recording)), -1
    for operation in recording.operations:
        if operation.backward is None:
            continue
        carried = {s.source for s in operation.backward.seeds if s.source is not None}
        between = [o for o in readings if before < o.index < operation.index] if carried else []
        lines |= {o.site.key for o in between if not carried.isdisjoint(o.gradients)}
        before = operation.index
    return {extent for o in readings if o.site.key not in lines for extent in o.gradients}


def _first_use(recording: Recording, ref: ArrayRef) -> int:
    extent = ref.extent
    return next((o.index for o in recording.operations if any(touches(o, extent))), len(recording.operations))


def _made_anew(recording: Recording, owners: Sequence[ArrayRef]) -> dict[str, list[ArrayRef]]:
    """Arrays by name: a parameter built anew in each iteration has several."""
    named: dict[str, list[ArrayRef]] = {}
    for ref in sorted(owners, key=lambda r: _first_use(recording, r)):
        named.setdefault(recording.name(ref), []).append(ref)
    return named


# -- lives ---------------------------------------------------------------------------------------------


def _versions(recording: Recording, ref: ArrayRef, missed: Set[int] = frozenset()) -> Iterator[_Version]:
    """Contents of an array between two updates; one that should have changed it and missed it counts."""
    extent = ref.extent
    in_torch = ref.gradient in recording.in_torch
    begin, reads, taped = 0, list[Operation](), list[Operation]()
    for operation in recording.operations:
        touched = list(touches(operation, extent))
        if not (touched or operation.index in missed) or operation.kind is Kind.BACKWARD:
            continue
        here = (operation.kind is Kind.TORCH) == in_torch and operation.route != SHARED
        loads = here and any(load for _, load, _ in touched)
        writes = any(write for _, _, write in touched) or operation.index in missed
        if writes and operation.tape is None:
            if taped or (reads and _backward_between(recording, begin, operation.index)):
                last = _end_of_update(recording, extent, operation.index)
                yield _Version(begin, operation, last, tuple(reads), tuple(taped))
            begin, reads, taped = operation.index + 1, [], []
            continue
        if loads:
            reads.append(operation)
            if operation.tape is not None:
                taped.append(operation)
    if reads:
        yield _Version(begin, None, 0, tuple(reads), tuple(taped))


def _from_its_origin(recording: Recording, ref: ArrayRef, version: _Version) -> _Version:
    """A version whose contents were restored from a copy kept aside, from where they first were in the array."""
    begin = version.begin
    while (earlier := _restored_from(recording, ref, begin - 1)) is not None:
        begin = earlier + 1
    if begin == version.begin:
        return version
    last = version.reads[-1].index
    reads = [o for o in recording.operations[begin : last + 1] if any(load for _, load, _ in touches(o, ref.extent))]
    return replace(version, begin=begin, reads=tuple(reads))


def _restored_from(recording: Recording, ref: ArrayRef, index: int) -> int | None:
    """The write whose contents a copy brings back into an array; None where it does not bring any back."""
    if index < 0 or recording.operations[index].kind is not Kind.COPY:
        return None
    to, of = (a.ref.extent for a in recording.operations[index].accesses)
    if to != ref.extent or of == to:
        return None
    kept = _last_write(recording, of, index)
    if kept is None or kept.kind is not Kind.COPY or kept.accesses[0].ref.extent != of:
        return None
    if kept.accesses[1].ref.extent != to or kept.tape is not None:
        return None
    written = _last_write(recording, to, kept.index)
    return None if written is None else written.index


def _last_write(recording: Recording, extent: Extent, before: int) -> Operation | None:
    written = (o for o in reversed(recording.operations[:before]) if any(w for _, _, w in touches(o, extent)))
    return next(written, None)


def _end_of_update(recording: Recording, extent: Extent, begin: int) -> int:
    """One past the last write from outside a tape before a tape reads the array or runs backward again."""
    last = begin
    for operation in recording.operations[begin:]:
        if operation.kind is Kind.BACKWARD:
            break
        touched = list(touches(operation, extent))
        if operation.tape is not None and any(load for _, load, _ in touched):
            break
        if operation.tape is None and any(write for _, _, write in touched):
            last = operation.index
    return last + 1


def _backward_between(recording: Recording, begin: int, end: int) -> bool:
    return any(o.kind is Kind.BACKWARD for o in recording.operations[begin:end])


def _life(
    recording: Recording,
    ref: ArrayRef,
    version: _Version,
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
    taped = _taped(ref, backwards, readings)
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
            version = _Version(found.begin.index, found.end, 0, found.launches, found.launches)
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
    later = [_first_use(recording, s) for s in siblings if s is not ref]
    return min((i for i in later if i > first), default=len(recording.operations))


def _backwards(recording: Recording, version: _Version, first: int, end: int) -> tuple[Operation, ...]:
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
    recording: Recording, ref: ArrayRef, version: _Version, made_anew: dict[str, list[ArrayRef]]
) -> ArrayRef | None:
    if version.end is not None:
        return ref
    siblings = made_anew.get(recording.name(ref), [])
    position = siblings.index(ref) if ref in siblings else -1
    return siblings[position + 1] if 0 <= position < len(siblings) - 1 else None


def _taped(ref: ArrayRef, backwards: Sequence[Operation], readings: Sequence[Reading]) -> Float | None:
    """What the tape left: the buffer's contents after each pass that was read on its own, added."""
    gradient = ref.gradient_extent
    if gradient is None:
        return None
    ends = [backwards[-1]]
    if len(readings) > 1:
        limits = [r.operation.index for r in readings]
        ends = [max((b for b in backwards if b.index < limit), key=lambda b: b.index) for limit in limits]
    found = [
        gradient_values(data, ref)
        for b in ends
        if b.backward is not None and (data := assembled(b.backward.taped, gradient)) is not None
    ]
    return sum(found[1:], found[0]) if found else None


def fresh_gradient(life: Life) -> Float | None:
    """What the life's own backward passes added to the gradient buffer; None where that was not seen."""
    if life.orphan is not None:
        return life.meant
    if life.taped is None or life.ref.gradient is None or len(life.readings) > 1:
        return None
    started = first_to_add(life)
    return life.taped if started is None else life.taped - started[1]


def first_to_add(life: Life) -> tuple[Operation, Float] | None:
    """The first backward pass of a life that adds to its gradient buffer, and what lay there before it."""
    return next(_additions(life), None)


def added_to(life: Life) -> list[tuple[Operation, Float]]:
    """For each reading of a life's gradient, the first pass that added to what was read, and what lay there before."""
    found: list[tuple[Operation, Float]] = []
    begin = -1
    for end in [r.operation.index for r in life.readings[:-1]] + [life.last + 1]:
        found += [(o, old) for o, old in _additions(life) if begin < o.index < end][:1]
        begin = end
    return found


def _additions(life: Life) -> Iterator[tuple[Operation, Float]]:
    gradient = life.ref.gradient_extent
    for operation in life.backwards if gradient is not None else ():
        assert gradient is not None
        before = assembled(operation.backward.before, gradient) if operation.backward is not None else None
        if before is not None:
            yield operation, gradient_values(before, life.ref)


def is_bookkeeping_clean(life: Life) -> bool:
    """Whether what was used is what the tape left, and the tape began with empty buffers.

    In torch, and in Warp within torch; of what torch makes of it in between nothing is known.
    """
    if life.in_torch and not (life.inner and all(is_bookkeeping_clean(n) for n in life.inner)):
        return False
    fresh = fresh_gradient(life)
    if life.consumed is None or life.taped is None or fresh is None:
        return False
    empty = all(o.backward is not None and not o.backward.leftovers for o in life.backwards)
    return empty and np.array_equal(life.consumed, life.taped) and np.array_equal(fresh, life.taped)
