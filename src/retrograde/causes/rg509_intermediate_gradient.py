"""RG509: the gradient of an intermediate array is read, and is zero by design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import Case
from retrograde.gradients.sweep import Sweep, Target
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.operations import Kind, Operation

CAUSE = Cause(
    code="RG509",
    name="intermediate-gradient",
    group="remarks",
    summary="The gradient of an intermediate array is read: backward has passed it on, so it is zero by design.",
    finds=(
        "Zeros read from the gradient of an array that a kernel on the tape wrote, whose adjoint was not zero while "
        "backward went through. Shown by the sweep."
    ),
    why=(
        "The adjoint of a write hands the gradient of the written element on and clears it, so that an element written "
        "twice is not counted twice. What is left in `.grad` of an intermediate array says nothing about the gradient "
        "of the parameters."
    ),
    fix="Allocate the array with `retain_grad=True` to look at it, if it is written only once.",
    example_wrong="""
hidden = wp.zeros(n, dtype=float, requires_grad=True)
...
print(hidden.grad.numpy())               # zeros
""",
    example_right="""
hidden = wp.zeros(n, dtype=float, requires_grad=True, retain_grad=True)
...
print(hidden.grad.numpy())
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Intermediate arrays whose gradient was read as zero, each once."""
    if any(j.opinion is Opinion.WRONG for j in judgements):
        return []
    found: dict[str, Suspect] = {}
    for judgement in judgements:
        case = judgement.case
        for reading, ref, writer in _zero_readings(case):
            name = case.recording.name(ref)
            if name not in found and _had_an_adjoint(case, ref, writer):
                found[name] = _suspect(case, reading, ref, writer)
    return list(found.values())


def _zero_readings(case: Case) -> list[tuple[Operation, ArrayRef, Operation]]:
    """Readings of zeros after the last pass from gradients of arrays that this life's tapes wrote, with the writer."""
    written: dict[int, tuple[ArrayRef, Operation]] = {}
    for operation in case.window.operations:
        if operation.tape is not None and operation.kind is Kind.LAUNCH:
            for access in operation.accesses:
                if access.usage.writes and access.ref.gradient is not None:
                    written[access.ref.gradient] = (access.ref, operation)
    found: list[tuple[Operation, ArrayRef, Operation]] = []
    for operation in case.recording.operations[case.window.last + 1 :]:
        if operation.kind is Kind.BACKWARD:
            break
        if operation.kind is Kind.HOST_READ:
            for extent, data in operation.gradients.items():
                if extent.low in written and not data.any():
                    found.append((operation, *written[extent.low]))
    return found


def _had_an_adjoint(case: Case, ref: ArrayRef, writer: Operation) -> bool:
    """Whether the sweep passes anything through an array, just after it was written."""
    sweep = Sweep(case.window, case.objective.seeds, case.treatments)
    (adjoint,) = sweep.run((Target(ref, writer.index + 1),))
    return bool(np.any(adjoint != 0.0))


def _suspect(case: Case, reading: Operation, ref: ArrayRef, writer: Operation) -> Suspect:
    name = case.recording.name(ref)
    return Suspect(
        code=CAUSE.code,
        site=reading.site,
        order=reading.index,
        message=(
            f"{name}.grad is read here and is zero: the {writer.label} at line {writer.site.line} computes {name}, and "
            f"its adjoint has passed the gradient on. The gradient of {case.life.name} is right."
        ),
        fix=f"Allocate {name} with retain_grad=True if its gradient is wanted.",
        array=name,
        route="consumed by the adjoint of its writer",
    )
