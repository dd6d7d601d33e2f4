"""Operations on the path that no backward pass goes through."""

from __future__ import annotations

from retrograde.gradients.ladder import Case
from retrograde.trace.operations import Kind, Operation


def backward_tapes(case: Case) -> frozenset[int]:
    """Tapes that ran backward in this life."""
    return frozenset(o.tape for o in case.life.backwards if o.tape is not None)


def unrecorded(case: Case) -> list[Operation]:
    """Launches and copies of the window that no tape recorded."""
    return [
        o
        for o in case.window.operations
        if o.tape is None and o.kind in (Kind.LAUNCH, Kind.COPY) and any(a.ref.differentiable for a in o.accesses)
    ]


def on_other_tapes(case: Case) -> list[Operation]:
    """Launches and copies that another tape recorded than the one that ran backward after them.

    With several backward passes each tape is alone: an operation counts where some seed of another tape
    depends on it.
    """
    tapes = backward_tapes(case)
    seeds = {s.index for s in case.objective.seeds}
    seeded = {case.recording.operations[i].tape for i in seeds}
    several = len(seeded) > 1
    return [
        o
        for o in case.window.operations
        if o.tape is not None and o.kind in (Kind.LAUNCH, Kind.COPY) and (o.tape not in tapes or several)
    ]


def writes_seed(case: Case, operation: Operation) -> bool:
    """Whether an operation writes an array that the objective is read from."""
    return any(
        a.usage.writes and a.ref.extent.overlaps(seed.ref.extent)
        for a in operation.accesses
        for seed in case.objective.seeds
    )
