"""Which gradient a program used: what was read of a buffer, when, and what had become of it meanwhile.

The readings between a forward pass and the update that ends a parameter's life are laid side by side with the
backward passes and the clears between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrograde.gradients.memory import gradient_values
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import Key
from retrograde.trace.extents import Bytes, Extent
from retrograde.trace.operations import Kind, Operation, Recording

Float = npt.NDArray[np.float64]
CLEARS = (Kind.CLEAR, Kind.FILL, Kind.HOST_WRITE)
_FOLLOWS, _UNRELATED = 0.999, 0.5


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


def touches(operation: Operation, extent: Extent) -> Iterator[tuple[int, bool, bool]]:
    """Accesses of an operation to a range: position, whether it reads, whether it writes."""
    for slot, access in enumerate(operation.accesses):
        if access.ref.extent.overlaps(extent):
            yield slot, access.usage.load, access.usage.writes


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


def put_aside(recording: Recording) -> frozenset[Key]:
    """Lines that copy a gradient to where it waits until it is copied into another gradient buffer."""
    copies = [o for o in recording.operations if o.kind is Kind.COPY]
    if not any(o.gradients for o in copies):
        return frozenset()
    buffers = {e for o in recording.operations for a in o.accesses if (e := a.ref.gradient_extent) is not None}
    brought = [(o.index, o.accesses[1].ref.extent, o.accesses[0].ref.extent) for o in copies]
    brought = [(index, of, to) for index, of, to in brought if to in buffers]
    return frozenset(
        o.site.key
        for o in copies
        if o.gradients
        and any(
            index > o.index and of == o.accesses[0].ref.extent and to not in o.gradients for index, of, to in brought
        )
    )


def consumed_gradient(
    recording: Recording,
    ref: ArrayRef,
    backwards: Sequence[Operation],
    update: Operation | None,
    stop: int,
    successor: ArrayRef | None,
    aside: Set[Key] = frozenset(),
    begin: int = 0,
) -> tuple[tuple[Reading, ...], Float | None, Operation | None]:
    """The gradient that the program used: readings that count, their sum, and a clear that came first.

    Args:
        recording: The recording.
        ref: The parameter.
        backwards: The backward passes of its life.
        update: What ends the life, if anything.
        stop: Where it ends.
        successor: The array that follows it.
        aside: Lines that put gradients aside, whose readings do not count.
        begin: Where the life begins.
    """
    gradient = ref.gradient_extent
    if gradient is None:
        return (), None, None
    start = min(backwards[0].index, stop if update is None else update.index)
    limit = max(stop, update.index + 1) if update is not None else stop
    first = max(begin, _search_start(recording, ref, start, limit))
    readings = readings_of(recording, ref, first, limit, aside)
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


def readings_of(
    recording: Recording, ref: ArrayRef, begin: int, end: int, aside: Set[Key] = frozenset()
) -> list[Reading]:
    """All readings of a parameter's gradient in a range of operations.

    Args:
        recording: The recording.
        ref: The parameter.
        begin, end: The range.
        aside: Lines that put gradients aside, whose readings do not count.
    """
    gradient = ref.gradient_extent
    return [
        _reading(o, gradient, ref)
        for o in recording.operations[begin:end]
        if gradient is not None and o.kind is not Kind.HOST_WRITE and o.site.key not in aside
        if any(e.overlaps(gradient) for e in o.gradients)
    ]


def _search_start(recording: Recording, ref: ArrayRef, start: int, limit: int) -> int:
    """Readings count from the first read of the parameter: a gradient read before backward is stale."""
    extent = ref.extent
    for operation in recording.operations[:start]:
        inside = operation.tape is not None or (operation.kind is Kind.LAUNCH and operation.within is not None)
        if inside and any(load for _, load, _ in touches(operation, extent)):
            later = operation.index
            break
    else:
        return start
    candidates = [
        o.index
        for o in recording.operations[later:start]
        if o.tape is None and any(write for _, _, write in touches(o, extent))
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
        later = readings[position + 1 :]
        if operation.index > backward and _is_transformed_after(recording, gradient, operation, later):
            return readings[: position + 1]
    return readings


def _is_transformed_after(recording: Recording, gradient: Extent, reading: Operation, later: Sequence[Reading]) -> bool:
    """Whether a reading also writes the buffer, or something else than zeros is then written to it."""
    if any(a.usage.writes and a.usage.load and a.ref.extent.overlaps(gradient) for a in reading.accesses):
        return True
    for operation in recording.operations[reading.index + 1 :]:
        if operation.kind is Kind.BACKWARD:
            return False
        if not any(a.usage.writes and a.ref.extent.overlaps(gradient) for a in operation.accesses):
            continue
        if operation.kind is Kind.HOST_WRITE:
            return operation.data is not None and bool(operation.data.any())
        if operation.kind not in (Kind.LAUNCH, Kind.COPY):
            return False
        return any(r.values.any() for r in later if r.operation.index > operation.index)
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
        if operation.kind in CLEARS and any(
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
        if o.kind is Kind.HOST_WRITE and o.data is not None and any(a.ref.extent.contains(extent) for a in o.accesses)
    ]
    if not writes:
        return None
    return _data(writes[-1] if before is not None else writes[0], ref)


def _data(operation: Operation | None, ref: ArrayRef) -> Float | None:
    if operation is None or operation.data is None:
        return None
    written = operation.accesses[0].ref.extent
    if operation.data.size != written.size or not written.contains(ref.extent):
        return None
    view = np.ndarray(
        ref.full_shape,
        dtype=np.dtype(ref.scalar if ref.scalar is not None else np.uint8),
        buffer=operation.data,
        offset=ref.pointer - written.low,
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
