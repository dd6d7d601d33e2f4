"""Lives within torch's backward passes, which serve parameters of torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrograde.gradients.consumption import Reading, readings_of
from retrograde.gradients.life import Life, taped_gradient
from retrograde.trace.operations import TORCH, Kind, Operation, Recording


def nest(recording: Recording, lives: Sequence[Life]) -> list[Life]:
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
        return replace(life, backwards=backwards, taped=taped_gradient(life.ref, backwards, life.readings))
    consumed = sum((r.values for r in readings[1:]), readings[0].values)
    taped = taped_gradient(life.ref, backwards, readings)
    return replace(life, backwards=backwards, readings=tuple(readings), consumed=consumed, taped=taped)
