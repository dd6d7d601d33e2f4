"""Values that cross between host and device, or come out of library routines, as a re-execution sees them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.numbers import numbers_of, values_of
from retrograde.trace.operations import Access, Kind, LaunchCall
from retrograde.trace.plan import read_values

Float = npt.NDArray[np.float64]
Place = tuple[int, int]
"""Ordinal of a call, and the number of values seen at that ordinal before."""

FROM_OUTSIDE = (Kind.HOST_WRITE, Kind.FILL, Kind.ROUTINE)
_ARRAYS = (*FROM_OUTSIDE, Kind.HOST_READ)


def crossing_refs(kind: Kind, accesses: Sequence[Access]) -> list[ArrayRef]:
    """The arrays whose values cross in an operation: those that it writes, of a read the one that it reads."""
    if kind not in _ARRAYS:
        return []
    reads = kind is Kind.HOST_READ
    return [a.ref for a in accesses if a.ref.differentiable and (reads or a.usage.writes)]


class Crossings:
    """Collects what crosses at chosen calls."""

    def __init__(self) -> None:
        self.watched: frozenset[int] = frozenset()
        self.seen: dict[Place, Float] = {}

    def note(self, ordinal: int, kind: Kind, accesses: Sequence[Access], call: object) -> None:
        """A call has run."""
        if ordinal not in self.watched:
            return
        if isinstance(call, LaunchCall):
            self._keep(ordinal, values_of(numbers_of(call)))
        else:
            refs = crossing_refs(kind, accesses)
            if refs:
                self._keep(ordinal, np.concatenate([read_values(r).reshape(-1) for r in refs]))

    def _keep(self, ordinal: int, values: Float) -> None:
        count = sum(1 for place in self.seen if place[0] == ordinal)
        self.seen[ordinal, count] = values
