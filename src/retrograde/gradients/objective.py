"""The objective of a life: what its backward passes differentiate, or what the program reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrograde.gradients.life import Life
from retrograde.gradients.sweep import SeedTerm
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.expressions import Reduction
from retrograde.trace.operations import BackwardCall, Kind, Operation, Recording
from retrograde.trace.plan import Term

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Objective:
    """A sum of weighted array elements, read when the backward passes begin.

    Attributes:
        seeds: What a gradient of the objective is seeded with.
        used: What the program's own backward passes were seeded with.
        terms: The same as `seeds`, for re-executions.
        description: In words.
        repeats: Losses that a backward pass began with once more, unchanged: the program counted them twice.
        reported: The expression that decided the weights, where the program's seeds differ from it.
        value: Its value in the program's own run; None where it was not seen.
    """

    seeds: tuple[SeedTerm, ...]
    used: tuple[SeedTerm, ...]
    terms: tuple[Term, ...]
    description: str
    reported: Reduction | None = None
    value: float | None = None
    repeats: tuple[SeedTerm, ...] = ()


def objective_of(recording: Recording, life: Life, only: str | None = None) -> Objective:
    """The objective of one life.

    Args:
        recording: The recording.
        life: The life.
        only: Name of the loss array to judge by, None for the sum of all.
    """
    seeds: list[SeedTerm] = []
    used: list[SeedTerm] = []
    terms: list[Term] = []
    words: list[str] = []
    repeats: list[SeedTerm] = []
    reported: Reduction | None = None
    values: list[float | None] = []
    own = _own_seeds(life)
    for operation in life.backwards:
        call = operation.backward
        assert call is not None
        if call.loss is not None:
            name = recording.name(call.loss)
            if only is not None and name != only and len(life.backwards) > 1:
                continue
            term = SeedTerm(operation.index, call.loss, np.ones(call.loss.full_shape), operation.index)
            if _is_repeat(recording, life, operation):
                repeats.append(term)
                continue
            seeds.append(term)
            used.append(term)
            terms.append(Term(operation.ordinal))
            words.append(name)
            values.append(call.value)
        elif any(id(s) in own for s in call.seeds):
            chosen, found = _weights(recording, operation, call)
            reported = reported or found
            values.append(_rescaled(call, chosen))
            index = operation.index
            for seed, weights in zip(call.seeds, chosen, strict=True):
                if id(seed) in own:
                    seeds.append(SeedTerm(index, seed.ref, weights, index))
                    used.append(SeedTerm(index, seed.ref, seed.values(), index))
                    words.append(found.source if found else f"seeds . {recording.name(seed.ref)}")
            weighted = zip(call.seeds, chosen, strict=True)
            terms.append(Term(operation.ordinal, tuple(w if id(s) in own else 0.0 * w for s, w in weighted)))
    total = None if not values or None in values else float(sum(v for v in values if v is not None))
    description = " + ".join(dict.fromkeys(words))
    return Objective(tuple(seeds), tuple(used), tuple(terms), description, reported, total, tuple(repeats))


def _own_seeds(life: Life) -> set[int]:
    """Identities of the seeds that are the program's own: not those that carry another pass on, if any are not."""
    calls = [o.backward for o in life.backwards if o.backward is not None]
    seeds = [s for call in calls for s in call.seeds]
    own = {id(s) for s in seeds if not s.continued}
    return own if own or any(call.loss is not None for call in calls) else {id(s) for s in seeds}


def _is_repeat(recording: Recording, life: Life, operation: Operation) -> bool:
    """Whether a backward pass begins from a loss that an earlier one of this life began with, unchanged meanwhile."""
    call = operation.backward
    assert call is not None
    assert call.loss is not None
    extent = call.loss.extent
    earlier = [
        o
        for o in life.backwards
        if o.index < operation.index and o.tape == operation.tape
        if o.backward is not None and o.backward.loss is not None and o.backward.loss.extent == extent
    ]
    if not earlier:
        return False
    between = recording.operations[earlier[-1].index + 1 : operation.index]
    return not any(a.usage.writes and a.ref.extent.overlaps(extent) for o in between for a in o.accesses)


def _rescaled(call: BackwardCall, chosen: list[Float]) -> float | None:
    """The value with other weights, which differ from the program's by a common factor where they differ."""
    used = call.seeds[0].values()
    if call.value is None or np.array_equal(used, chosen[0]):
        return call.value
    return call.value * float(chosen[0].flat[0] / used.flat[0])


def _weights(recording: Recording, operation: Operation, call: BackwardCall) -> tuple[list[Float], Reduction | None]:
    """Weights of the objective: those that the program reports where its seed is uniform, else its seeds."""
    weights = [s.values() for s in call.seeds]
    if len(call.seeds) != 1 or call.seeds[0].ref.size < 2:
        return weights, None
    values = weights[0]
    reduction = _reported(recording, operation, call.seeds[0].ref)
    if reduction is None or not np.all(values == values.flat[0]):
        return weights, None
    if np.isclose(values.flat[0], reduction.weight, rtol=1e-4, atol=0.0):
        return weights, None
    return [np.full(values.shape, reduction.weight)], reduction


def _reported(recording: Recording, backward: Operation, ref: ArrayRef) -> Reduction | None:
    """What the program reports of an array between its last write and its next one."""
    extent = ref.extent
    operations = recording.operations
    begin = backward.index
    while begin > 0 and not any(a.usage.writes and a.ref.extent.overlaps(extent) for a in operations[begin].accesses):
        begin -= 1
    for operation in operations[begin + 1 :]:
        for access in operation.accesses:
            if access.ref.extent.overlaps(extent) and access.usage.writes:
                return None
            if operation.kind is Kind.HOST_READ and access.ref.extent == extent and operation.expression is not None:
                return operation.expression
    return None
