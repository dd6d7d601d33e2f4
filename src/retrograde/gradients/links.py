"""Links that a replay cannot see: values that leave for the host, or for a library routine, and come back.

To every recorded operation such values are constants. A link is one of them that moves when the parameter is
perturbed and the program is run again: contents that the host writes, a number handed to a launch by value, the
result of a library routine. What the program computes outside is measured as the change of these values with the
parameter; what it does to the objective from there on is the adjoint that a sweep has at that place.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.crossings import FROM_OUTSIDE, Place, crossing_refs
from retrograde.trace.numbers import numbers_of
from retrograde.trace.operations import Kind, Operation
from retrograde.trace.plan import Outcome

Float = npt.NDArray[np.float64]
Evaluate = Callable[[Sequence[Float], frozenset[int]], list[Outcome]]

_ALL = 24
_STEP = 2.0**-6


class Way(Enum):
    """How values come back; the value is the word that reports use."""

    HOST = "through the host"
    NUMBER = "by value"
    ROUTINE = "library routine"


@dataclass(frozen=True, eq=False)
class Link:
    """Values from outside that depend on the parameter.

    Attributes:
        operation: Where they come in.
        way: How.
        tangents: Their derivatives along each direction of the basis, shape [directions, values].
        copied: The host read whose values they are, unchanged; None where they were computed.
        labels: Names of the numbers among them that depend on the parameter, for a launch.
    """

    operation: Operation
    way: Way
    tangents: Float
    copied: Operation | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Links:
    """All links of one life.

    Attributes:
        members: In program order.
        basis: Directions in the parameter's space along which links were measured, shape [directions, size].
    """

    members: tuple[Link, ...]
    basis: Float
    by_index: Mapping[int, Link] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_index", {m.operation.index: m for m in self.members})

    def gradient(self, slopes: Float) -> Float:
        """The smallest gradient with given slopes along the basis."""
        return np.asarray(np.linalg.lstsq(self.basis, slopes, rcond=None)[0], dtype=np.float64)


def find_links(
    operations: Sequence[Operation],
    stood_for: Container[int],
    contents: Float,
    scale: Float,
    directions: Sequence[Float],
    evaluate: Evaluate,
) -> Links | None:
    """The links between a parameter and the objective; None where nothing moves.

    Args:
        operations: The operations of the window.
        stood_for: Indices of those whose adjoint a recorded function is.
        contents: The parameter's contents.
        scale: Step scale of each of its elements.
        directions: Directions of interest; a small parameter is taken element by element instead.
        evaluate: Runs the program again with other contents, and returns what crosses at the given ordinals.
    """
    places = _places(operations)
    watched = frozenset(ordinal for ordinal, _ in places)
    if not watched:
        return None
    shift = _STEP * scale * np.random.default_rng(0).standard_normal(contents.shape)
    still, moved = evaluate([contents, contents + shift], watched)
    entering = {p: o for p, o in places.items() if o.kind is not Kind.HOST_READ and o.index not in stood_for}
    candidates = {p: o for p, o in entering.items() if _moves(p, still, moved)}
    if not candidates:
        return None
    copies = {p: _copied(p, candidates[p], places, still, moved) for p in candidates}
    basis = _basis(contents, directions)
    measured = [p for p in candidates if copies[p] is None]
    tangents = _tangents(measured, contents, scale, basis, evaluate) if measured else {}
    members = [
        Link(o, _way(o), tangents.get(p, np.zeros((len(basis), 0))), copies[p], _labels(o, p, still, moved))
        for p, o in candidates.items()
        if copies[p] is not None or p in tangents
    ]
    return Links(tuple(members), basis.reshape(len(basis), -1)) if members else None


def _places(operations: Sequence[Operation]) -> dict[Place, Operation]:
    """Where values cross, in the order in which a re-execution counts them."""
    places: dict[Place, Operation] = {}
    counts: dict[int, int] = {}
    for operation in operations:
        crosses = bool(crossing_refs(operation.kind, operation.accesses))
        if operation.launch is not None:
            crosses = any(n.values.size for n in numbers_of(operation.launch))
        if crosses:
            count = counts.get(operation.ordinal, 0)
            counts[operation.ordinal] = count + 1
            places[operation.ordinal, count] = operation
    return places


def _moves(place: Place, still: Outcome, moved: Outcome) -> bool:
    a, b = still.seen.get(place), moved.seen.get(place)
    return a is not None and b is not None and a.shape == b.shape and not np.array_equal(a, b, equal_nan=True)


def _copied(
    place: Place, operation: Operation, places: Mapping[Place, Operation], still: Outcome, moved: Outcome
) -> Operation | None:
    """The last host read before a host write whose values the write has, with and without the perturbation."""
    if operation.kind is not Kind.HOST_WRITE or len(crossing_refs(operation.kind, operation.accesses)) != 1:
        return None
    found: Operation | None = None
    for other, read in places.items():
        if read.kind is not Kind.HOST_READ or read.index > operation.index:
            continue
        pairs = [(run.seen.get(place), run.seen.get(other)) for run in (still, moved)]
        if all(a is not None and b is not None and np.array_equal(a, b) for a, b in pairs):
            found = read
    return found


def _basis(contents: Float, directions: Sequence[Float]) -> Float:
    if contents.size <= _ALL or not directions:
        return np.eye(contents.size).reshape(contents.size, *contents.shape)
    return np.stack(list(directions))


def _tangents(
    places: Sequence[Place], contents: Float, scale: Float, basis: Float, evaluate: Evaluate
) -> dict[Place, Float]:
    """Central differences of fourth order of the values at some places along each direction of the basis."""
    watched = frozenset(ordinal for ordinal, _ in places)
    lengths = [_length(direction, scale) for direction in basis]
    shifts = [turns * h * v for v, h in zip(basis, lengths, strict=True) for turns in (1.0, -1.0, 2.0, -2.0)]
    outcomes = evaluate([contents + s for s in shifts], watched)
    found: dict[Place, Float] = {}
    for place in places:
        values = [o.seen.get(place) for o in outcomes]
        known = [v for v in values if v is not None]
        if len(known) < len(values) or len({v.shape for v in known}) != 1:
            continue
        table = np.stack(known).reshape(len(basis), 4, -1)
        slopes = (8.0 * (table[:, 0] - table[:, 1]) - (table[:, 2] - table[:, 3])) / 12.0
        found[place] = slopes / np.array(lengths)[:, None]
    return found


def _length(direction: Float, scale: Float) -> float:
    """A step along a direction that moves every element by less than a small part of its scale."""
    return _STEP / float(np.max(np.abs(direction) / scale))


def _way(operation: Operation) -> Way:
    if operation.kind is Kind.LAUNCH:
        return Way.NUMBER
    return Way.ROUTINE if operation.kind is Kind.ROUTINE else Way.HOST


def _labels(operation: Operation, place: Place, still: Outcome, moved: Outcome) -> tuple[str, ...]:
    """Names of the numbers of a launch that move."""
    if operation.launch is None:
        return ()
    before, after = still.seen[place], moved.seen[place]
    labels: list[str] = []
    begin = 0
    for number in numbers_of(operation.launch):
        end = begin + number.values.size
        if not np.array_equal(before[begin:end], after[begin:end]):
            labels.append(number.label)
        begin = end
    return tuple(labels)


def outside_refs(operation: Operation) -> list[ArrayRef]:
    """The arrays that values from outside are written to."""
    return crossing_refs(operation.kind, operation.accesses) if operation.kind in FROM_OUTSIDE else []
