"""Where a program's own calls must be changed to measure a derivative of it again."""

from __future__ import annotations

import numpy as np

from retrograde.gradients.ladder import Case
from retrograde.gradients.life import Life
from retrograde.gradients.reruns import Reading, Rerun
from retrograde.trace.operations import TORCH, Kind, Operation, Recording
from retrograde.trace.plan import Term


def rerun_of(case: Case) -> Rerun:
    """How to measure the slopes of one case again."""
    life = case.life
    access = life.first.accesses[life.slot] if life.slot < len(life.first.accesses) else None
    launch = life.first.launch
    readings = [_reading(case.recording, term) for term in case.objective.terms]
    return Rerun(
        parameter=life.name,
        iteration=life.iteration,
        obstacle=_obstacle(life) or next((r for r in readings if isinstance(r, str)), None),
        call="launch" if launch is not None else "numpy",
        number=_number(case.recording, life.first),
        kernel="" if launch is None else str(launch.kernel.key),
        position=0 if access is None else access.position,
        fields=() if access is None or launch is None else tuple(str(part) for part in access.path[1:]),
        offset=life.offset,
        strides=life.ref.full_strides,
        dtype=np.dtype(life.ref.scalar if life.ref.scalar is not None else np.float32).name,
        contents=case.contents,
        readings=tuple(r for r in readings if isinstance(r, Reading)),
    )


def _obstacle(life: Life) -> str | None:
    if life.in_torch:
        return "it is a parameter of torch"
    if life.numbers:
        return "it reaches kernels as numbers"
    if life.first.kind not in (Kind.LAUNCH, Kind.HOST_READ):
        return f"it is first read by a {life.first.kind.value}"
    return None


def _number(recording: Recording, operation: Operation) -> int:
    return sum(o.kind is operation.kind for o in recording.operations[: operation.index + 1])


def _reading(recording: Recording, term: Term) -> Reading | str:
    passes = [o for o in recording.operations if o.kind is Kind.BACKWARD and o.tape != TORCH]
    number = next((n for n, o in enumerate(passes, 1) if o.ordinal == term.ordinal), None)
    if number is None or term.slot is not None:
        return "the objective is overwritten before its backward pass begins"
    call = passes[number - 1].backward
    if call is not None and call.loss is None and not all(s.explicit for s in call.seeds):
        return "its backward pass is seeded through gradient buffers"
    return Reading(number, term.weights)
