"""Parameters and their lives: from one update to the next, with what was consumed in between.

A parameter is a float array whose gradient the program reads for itself. A life is the time during
which its contents stay as they are: a forward pass reads them, a backward pass differentiates, an
update ends the life. Accumulating gradients over several backward passes without an update is one life.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retrograde.gradients.sweep import gradient_values
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Bytes, Extent
from retrograde.trace.operations import BackwardCall, Kind, Operation, Recording

Float = npt.NDArray[np.float64]
_FOLLOWS, _UNRELATED = 0.999, 0.5
_CLEARS = (Kind.CLEAR, Kind.FILL, Kind.HOST_WRITE)


@dataclass(frozen=True, eq=False)
class Reading:
    """One reading of a gradient by the program.

    Attributes:
        operation: What read it.
        values: What was read, zero where nothing was.
        covered: Where something was read.
    """

    operation: Operation
    values: Float
    covered: npt.NDArray[np.bool_]


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
    owners = _owners(recording)
    made_anew = _made_anew(recording, owners)
    for ref in sorted(owners, key=lambda r: _first_use(recording, r)):
        for version in _versions(recording, ref):
            life = _life(recording, ref, version, by_name, made_anew)
            if life is not None:
                lives.append(life)
                by_name.setdefault(life.name, []).append(life)
    return tuple(sorted(lives, key=lambda life: (life.first.index, life.name)))


# -- who is a parameter --------------------------------------------------------------------------------


def _owners(recording: Recording) -> list[ArrayRef]:
    """Arrays whose gradient buffers are read outside backward passes; else the leaves of the tapes."""
    by_gradient: dict[int, ArrayRef] = {}
    for operation in recording.operations:
        for access in operation.accesses:
            gradient = access.ref.gradient
            if gradient is not None and access.ref.differentiable:
                known = by_gradient.get(gradient)
                if known is None or known.size < access.ref.size:
                    by_gradient[gradient] = access.ref
    read = {e.low for o in recording.operations if o.kind is not Kind.HOST_WRITE for e in o.gradients}
    chosen = [ref for gradient, ref in by_gradient.items() if gradient in read and _is_leaf(recording, ref)]
    if chosen:
        return chosen
    return [ref for ref in by_gradient.values() if _is_leaf(recording, ref) and _is_taped(recording, ref)]


def _touches(operation: Operation, extent: Extent) -> Iterator[tuple[int, bool, bool]]:
    """Accesses of an operation to a range: position, whether it reads, whether it writes."""
    for slot, access in enumerate(operation.accesses):
        if access.ref.extent.overlaps(extent):
            yield slot, access.usage.load, access.usage.writes


def _is_leaf(recording: Recording, ref: ArrayRef) -> bool:
    """Whether no tape writes the array before one reads it."""
    extent = ref.extent
    for operation in recording.operations:
        if operation.tape is None or operation.kind not in (Kind.LAUNCH, Kind.COPY):
            continue
        touched = list(_touches(operation, extent))
        if any(load for _, load, _ in touched):
            return True
        if any(write for _, _, write in touched):
            return False
    return True


def _is_taped(recording: Recording, ref: ArrayRef) -> bool:
    extent = ref.extent
    return any(
        operation.tape is not None and operation.kind is Kind.LAUNCH and any(_touches(operation, extent))
        for operation in recording.operations
    )


def _first_use(recording: Recording, ref: ArrayRef) -> int:
    extent = ref.extent
    return next((o.index for o in recording.operations if any(_touches(o, extent))), len(recording.operations))


def _made_anew(recording: Recording, owners: Sequence[ArrayRef]) -> dict[str, list[ArrayRef]]:
    """Arrays by name: a parameter built anew in each iteration has several."""
    named: dict[str, list[ArrayRef]] = {}
    for ref in sorted(owners, key=lambda r: _first_use(recording, r)):
        named.setdefault(recording.name(ref), []).append(ref)
    return named


# -- lives ---------------------------------------------------------------------------------------------


def _versions(recording: Recording, ref: ArrayRef) -> Iterator[_Version]:
    extent = ref.extent
    begin, reads, taped = 0, list[Operation](), list[Operation]()
    for operation in recording.operations:
        touched = list(_touches(operation, extent))
        if not touched or operation.kind is Kind.BACKWARD:
            continue
        loads = any(load for _, load, _ in touched)
        writes = any(write for _, _, write in touched)
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


def _end_of_update(recording: Recording, extent: Extent, begin: int) -> int:
    """One past the last write from outside a tape before a tape reads the array or runs backward again."""
    last = begin
    for operation in recording.operations[begin:]:
        if operation.kind is Kind.BACKWARD:
            break
        touched = list(_touches(operation, extent))
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
) -> Life | None:
    first = version.reads[0]
    end = version.end.index if version.end is not None else _end_of_unended(recording, ref, first.index, made_anew)
    backwards = _backwards(recording, version, first.index, end)
    if not backwards:
        return None
    stop = max(end, backwards[-1].index + 1) if version.end is None else end
    seen = _seen_by_consumer(recording, ref, backwards, stop)
    lost = max((b.index for b in backwards if b not in seen), default=-1)
    first = next((o for o in version.reads if o.index > lost), first)
    backwards = seen
    stop = max(stop, version.last)
    slot = next(slot for slot, load, _ in _touches(first, ref.extent) if load)
    name = recording.name(ref)
    earlier = tuple(life.taped for life in reversed(by_name.get(name, [])) if life.taped is not None)
    successor = _successor(recording, ref, version, made_anew)
    readings, consumed, cleared = _consumed(recording, ref, backwards, version.end, stop, successor)
    taped = _taped(ref, backwards, readings)
    if consumed is None and _reads_gradients(recording):
        return None
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
    )


def _reads_gradients(recording: Recording) -> bool:
    return any(o.gradients for o in recording.operations if o.kind is not Kind.HOST_WRITE)


def _end_of_unended(recording: Recording, ref: ArrayRef, first: int, made_anew: dict[str, list[ArrayRef]]) -> int:
    """Where the life of a parameter ends that no write ends: where its successor is first used."""
    siblings = made_anew.get(recording.name(ref), [])
    later = [_first_use(recording, s) for s in siblings if s is not ref]
    return min((i for i in later if i > first), default=len(recording.operations))


def _backwards(recording: Recording, version: _Version, first: int, end: int) -> tuple[Operation, ...]:
    """Backward passes that belong to a version.

    Those of the tapes that read it, before its end. Where these only carry on what another pass left, or where
    there are none (the state is carried to another tape), all passes before its end; else the next of its tapes.
    """
    tapes = {o.tape for o in version.taped}
    inside = tuple(o for o in recording.operations[first:end] if o.kind is Kind.BACKWARD)
    mine = tuple(o for o in inside if o.tape in tapes)
    if any(o.backward is not None and not _only_continues(o.backward) for o in mine):
        return mine
    if inside:
        return inside
    for operation in recording.operations[end:]:
        if operation.kind is Kind.BACKWARD and operation.tape in tapes:
            return (operation,)
    return ()


def _only_continues(call: BackwardCall) -> bool:
    return call.loss is None and all(s.continued for s in call.seeds)


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
            if later.kind in _CLEARS and any(a.ref.extent.overlaps(gradient) for a in later.accesses):
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
    gradient = life.ref.gradient_extent
    first = life.backwards[0].backward
    if life.taped is None or gradient is None or first is None or len(life.readings) > 1:
        return None
    before = assembled(first.before, gradient)
    return life.taped if before is None else life.taped - gradient_values(before, life.ref)


def is_bookkeeping_clean(life: Life) -> bool:
    """Whether what was used is what the tape left, and the tape began with empty buffers."""
    fresh = fresh_gradient(life)
    if life.consumed is None or life.taped is None or fresh is None:
        return False
    empty = all(o.backward is not None and not o.backward.leftovers for o in life.backwards)
    return empty and np.array_equal(life.consumed, life.taped) and np.array_equal(fresh, life.taped)


def assembled(pieces: Mapping[Extent, Bytes], whole: Extent) -> Bytes | None:
    """A buffer put together from pieces of it; what no piece holds is zero. None where no piece lies in it."""
    data = np.zeros(whole.size, dtype=np.uint8)
    found = False
    for extent, piece in pieces.items():
        if extent.overlaps(whole):
            low, high = max(extent.low, whole.low), min(extent.high, whole.high)
            data[low - whole.low : high - whole.low] = piece[low - extent.low : high - extent.low]
            found = True
    return data if found else None


def _consumed(
    recording: Recording,
    ref: ArrayRef,
    backwards: Sequence[Operation],
    update: Operation | None,
    stop: int,
    successor: ArrayRef | None,
) -> tuple[tuple[Reading, ...], Float | None, Operation | None]:
    """The gradient that the program used: readings that count, their sum, and a clear that came first."""
    gradient = ref.gradient_extent
    if gradient is None:
        return (), None, None
    start = min(backwards[0].index, stop if update is None else update.index)
    limit = max(stop, update.index + 1) if update is not None else stop
    readings = [
        _reading(o, gradient, ref)
        for o in recording.operations[_search_start(recording, ref, start, limit) : limit]
        if o.kind is not Kind.HOST_WRITE and any(e.overlaps(gradient) for e in o.gradients)
    ]
    if not readings:
        return (), None, None
    readings = _untransformed(recording, gradient, backwards[-1].index, readings)
    counted = _counted(recording, gradient, backwards, readings)
    consumed = sum((r.values for r in counted[1:]), counted[0].values)
    last = counted[-1].operation
    cleared = _clear_between(recording, gradient, backwards[-1].index, last.index)
    viewed, reused = _through_view(recording, ref, gradient, update, last, limit)
    if viewed is not None and len(counted) == 1:
        moved = _movement(recording, ref, update, successor)
        if _explains_better(viewed, consumed, moved, reused):
            consumed = viewed
            cleared = _clear_between(recording, gradient, last.index, limit)
            counted = [Reading(last, viewed, np.ones(viewed.shape, dtype=bool))]
    return tuple(counted), consumed, cleared


def _search_start(recording: Recording, ref: ArrayRef, start: int, limit: int) -> int:
    """Readings count from the first read of the parameter: a gradient read before backward is stale."""
    extent = ref.extent
    for operation in recording.operations[:start]:
        if operation.tape is not None and any(load for _, load, _ in _touches(operation, extent)):
            later = operation.index
            break
    else:
        return start
    candidates = [
        o.index
        for o in recording.operations[later:start]
        if o.tape is None and any(write for _, _, write in _touches(o, extent))
    ]
    return candidates[-1] + 1 if candidates else later


def _reading(operation: Operation, gradient: Extent, ref: ArrayRef) -> Reading:
    """What an operation read of a gradient buffer."""
    data = assembled(operation.gradients, gradient)
    ones = {e: np.full(d.size, 255, dtype=np.uint8) for e, d in operation.gradients.items()}
    mask = assembled(ones, gradient)
    assert data is not None
    assert mask is not None
    return Reading(operation, gradient_values(data, ref), np.isnan(gradient_values(mask, ref)))


def _untransformed(recording: Recording, gradient: Extent, backward: int, readings: list[Reading]) -> list[Reading]:
    """Readings up to the first that changes the gradient on purpose: what clips or scales it consumed it."""
    for position, reading in enumerate(readings):
        operation = reading.operation
        if operation.index > backward and _is_transformed_after(recording, gradient, operation):
            return readings[: position + 1]
    return readings


def _is_transformed_after(recording: Recording, gradient: Extent, reading: Operation) -> bool:
    """Whether a reading also writes the buffer, or the host then writes it with something else than zeros."""
    if any(a.usage.writes and a.usage.load and a.ref.extent.overlaps(gradient) for a in reading.accesses):
        return True
    if reading.kind is not Kind.HOST_READ:
        return False
    for operation in recording.operations[reading.index + 1 :]:
        if not any(a.ref.extent.overlaps(gradient) for a in operation.accesses):
            continue
        written = operation.kind is Kind.HOST_WRITE and operation.data is not None
        return written and bool(operation.data is not None and operation.data.any())
    return False


def _counted(
    recording: Recording, gradient: Extent, backwards: Sequence[Operation], readings: Sequence[Reading]
) -> list[Reading]:
    """Readings that add up: one a backward pass where the buffer is cleared between them, else the last."""
    counted: list[Reading] = []
    limits = [b.index for b in backwards[1:]]
    begin = 0
    for limit in limits:
        group = [r for r in readings if begin <= r.operation.index < limit and r.operation.index > backwards[0].index]
        if group and _clear_between(recording, gradient, group[-1].operation.index, limit) is not None:
            counted.append(group[-1])
        begin = limit
    return [*counted, _together(readings, backwards[-1].index)]


def _together(readings: Sequence[Reading], backward: int) -> Reading:
    """The last reading, with the pieces that only earlier ones since the last backward pass had read."""
    last = readings[-1]
    values, covered = last.values.copy(), last.covered.copy()
    for reading in reversed(readings[:-1]):
        if covered.all() or reading.operation.index < backward:
            break
        fresh = reading.covered & ~covered
        values[fresh] = reading.values[fresh]
        covered |= fresh
    return Reading(last.operation, values, covered)


def _clear_between(recording: Recording, gradient: Extent, begin: int, end: int) -> Operation | None:
    for operation in recording.operations[begin + 1 : end]:
        if operation.kind in _CLEARS and any(
            a.ref.extent.overlaps(gradient) and a.usage.store for a in operation.accesses
        ):
            return operation
    return None


def _through_view(
    recording: Recording, ref: ArrayRef, gradient: Extent, update: Operation | None, last: Operation, limit: int
) -> tuple[Float | None, bool]:
    """What a NumPy view of the gradient showed once the buffer had changed, and whether it was used after that."""
    if last.kind is not Kind.HOST_READ:
        return None, False
    following = recording.operations[last.index + 1 : limit + 1]
    reused = any(o.viewed.get(gradient, False) for o in following)
    for operation in [update] if update is not None else following:
        seen = operation.gradients.get(gradient) if operation.kind is Kind.HOST_WRITE else None
        if seen is not None:
            return gradient_values(seen, ref), reused
    if any(gradient in o.viewed for o in following):
        return np.zeros(ref.full_shape), reused
    return None, False


def _movement(
    recording: Recording, ref: ArrayRef, update: Operation | None, successor: ArrayRef | None
) -> Float | None:
    """How the parameter moved from this life to the next, None where that cannot be told."""
    if successor is None:
        return None
    before = _written(recording, ref, None if update is None else update.index)
    after = _written(recording, successor, None) if successor is not ref else _data(update, ref)
    if before is None or after is None or before.shape != after.shape:
        return None
    return after - before


def _written(recording: Recording, ref: ArrayRef, before: int | None) -> Float | None:
    """The contents of the last host write to an array before an operation, the first one if None."""
    extent = ref.extent
    writes = [
        o
        for o in recording.operations[:before]
        if o.kind is Kind.HOST_WRITE and o.data is not None and any(a.ref.extent == extent for a in o.accesses)
    ]
    if not writes:
        return None
    return _data(writes[-1] if before is not None else writes[0], ref)


def _data(operation: Operation | None, ref: ArrayRef) -> Float | None:
    if operation is None or operation.data is None:
        return None
    low = ref.extent.low
    if operation.data.size != ref.extent.size:
        return None
    view = np.ndarray(
        ref.full_shape,
        dtype=np.dtype(ref.scalar if ref.scalar is not None else np.uint8),
        buffer=operation.data,
        offset=ref.pointer - low,
        strides=ref.full_strides,
    )
    return view.astype(np.float64)


def _explains_better(candidate: Float, other: Float, moved: Float | None, reused: bool) -> bool:
    """Whether the program used one gradient rather than another: by how the parameter moved, if that tells."""
    if np.array_equal(candidate, other):
        return False
    if moved is None:
        return reused
    if not moved.any():
        return not candidate.any() or reused
    first, second = _alignment(candidate, moved), _alignment(other, moved)
    if max(first, second) > _FOLLOWS:
        return first > second
    return reused and second < _UNRELATED


def _alignment(gradient: Float, moved: Float) -> float:
    size = float(np.linalg.norm(gradient) * np.linalg.norm(moved))
    return abs(float(np.vdot(gradient, moved))) / size if size > 0.0 and np.isfinite(size) else 0.0
