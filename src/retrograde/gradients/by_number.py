"""Parameters whose gradient the program reads although only their numbers reach a kernel.

The array that has the gradient is never read on the way to the loss; a launch is given the same numbers by value.
That they are the same is told by their values in every iteration, and by a name that the program uses in both places,
or by their changing together.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import CallSite
from retrograde.trace.numbers import numbers_of, values_of
from retrograde.trace.operations import Kind, Operation, Recording
from retrograde.trace.plan import values_in

Float = npt.NDArray[np.float64]
_MOST = 16


@dataclass(frozen=True)
class NumberUse:
    """One element of a parameter as a number of one launch.

    Attributes:
        ordinal: Ordinal of the launch.
        index: Index among the components of all numbers of that launch.
        element: Index of the element.
    """

    ordinal: int
    index: int
    element: int


@dataclass(frozen=True, eq=False)
class NumberVersion:
    """The time during which an array holds numbers that launches are given by value.

    Attributes:
        begin: Operation that wrote the numbers into the array.
        end: Operation that writes the array again, None at the end of the recording.
        launches: Launches that are given the numbers.
        uses: Which element is which number of which launch.
    """

    begin: Operation
    end: Operation | None
    launches: tuple[Operation, ...]
    uses: tuple[NumberUse, ...]


def versions_by_number(recording: Recording, refs: Sequence[ArrayRef]) -> list[NumberVersion]:
    """Versions of a parameter, made once or anew in each iteration, whose numbers launches are given.

    Args:
        recording: The recording.
        refs: The arrays that are the parameter, one after the other.
    """
    found = [v for ref in refs if ref.size <= _MOST and _is_unread(recording, ref) for v in _versions(recording, ref)]
    contents = {_contents(v.begin, r).tobytes() for v in found for r in refs if _writes(v.begin, r)}
    if len(contents) > 1 or any(_share_a_name(v) for v in found):
        return found
    return []


def _is_unread(recording: Recording, ref: ArrayRef) -> bool:
    """Whether no launch and no copy reads the array."""
    return not any(
        a.usage.load and a.ref.extent.overlaps(ref.extent)
        for o in recording.operations
        if o.kind in (Kind.LAUNCH, Kind.COPY, Kind.ROUTINE)
        for a in o.accesses
    )


def _versions(recording: Recording, ref: ArrayRef) -> Iterator[NumberVersion]:
    writes = [o for o in recording.operations if _writes(o, ref)]
    for position, begin in enumerate(writes):
        end = writes[position + 1] if position + 1 < len(writes) else None
        limit = len(recording.operations) if end is None else end.index
        first = writes[position - 1].index if position else 0
        launches = [o for o in recording.operations[first:limit] if o.launch is not None and o.within is not None]
        uses = [(o, u) for o in launches for u in _uses(o, _contents(begin, ref))]
        if {u.element for _, u in uses} == set(range(ref.size)):
            known = {o.index: o for o, _ in uses}
            yield NumberVersion(begin, end, tuple(known.values()), tuple(u for _, u in uses))


def _writes(operation: Operation, ref: ArrayRef) -> bool:
    return operation.kind is Kind.HOST_WRITE and operation.accesses[0].ref.extent == ref.extent


def _contents(operation: Operation, ref: ArrayRef) -> Float:
    assert operation.data is not None
    return values_in(operation.data, ref.extent, ref).reshape(-1)


def _uses(operation: Operation, contents: Float) -> Iterator[NumberUse]:
    call = operation.launch
    assert call is not None
    values = values_of(numbers_of(call))
    for element, value in enumerate(contents):
        for index in np.flatnonzero(values.astype(np.float32) == np.float32(value)):
            yield NumberUse(operation.ordinal, int(index), element)


def _share_a_name(version: NumberVersion) -> bool:
    """Whether the statement that fills the array and one that launches with the numbers use one variable."""
    filled = _names_at(version.begin.site)
    return any(filled & _names_at(o.site) for o in version.launches)


def _names_at(site: CallSite) -> frozenset[str]:
    return _names(site.file, site.line)


@lru_cache(maxsize=512)
def _names(file: str, line: int) -> frozenset[str]:
    """Variables and attributes read in the calls on a line, but for the functions that are called."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return frozenset()
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    functions = {id(n) for call in calls for n in ast.walk(call.func)}
    names: set[str] = set()
    for node in (n for call in calls for n in ast.walk(call)):
        if id(node) in functions:
            continue
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    return frozenset(names - {"self", "wp", "np", "float", "float32", "float64"})
