"""RG312: the optimizer steps another array than the one that the program reads."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG312",
    name="orphaned-parameter",
    group="bookkeeping",
    summary="The optimizer updates an array that the program does not read, and the one that it reads stays as it is.",
    finds=(
        "Steps that change an array which neither the loss before them nor a later one depends on, taken with its own "
        "gradient (which no backward pass fills) or with that of the array that the loss is computed from. Proven by "
        "giving the array that is read the gradient that the tape left for it."
    ),
    why=(
        "An optimizer holds the arrays that it was given. If the parameter is built anew afterwards (a new size, a "
        "clone, a conversion from NumPy), name and optimizer mean different arrays: the step has no effect on the "
        "loss, although gradients are right."
    ),
    fix="Give the optimizer the array that the program reads (`set_params`), or assign to it in place.",
    example_wrong="""
optimizer = wp.optim.Adam([x])
x = wp.array(x.numpy() * scale, dtype=float, requires_grad=True)
for iteration in range(n):
    ...
    optimizer.step([x.grad])             # steps the first x
""",
    example_right="""
x = wp.array(x.numpy() * scale, dtype=float, requires_grad=True)
optimizer = wp.optim.Adam([x])
for iteration in range(n):
    ...
    optimizer.step([x.grad])
""",
    known_problems="An array that is stepped and then read by the host and written elsewhere is taken to be used.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """The step that reached another array."""
    case = judgement.case
    life, orphan = case.life, case.life.orphan
    if orphan is None or life.meant is None:
        return []
    recording = case.recording
    name = recording.name(orphan.stepped)
    made = recording.sites.get(id(orphan.stepped.array))
    read = recording.sites.get(id(orphan.read.array))
    where = "" if made is None else f", made at line {made.line}"
    other = "" if read is None else f", made at line {read.line}"
    return [
        Suspect(
            code=CAUSE.code,
            site=orphan.step.site,
            order=orphan.step.index,
            message=(
                f"This step changes {name}{where}, which no loss depends on. The loss is computed from "
                f"{recording.name(orphan.read)}{other}, which nothing steps."
            ),
            fix="Give the optimizer the array that the program reads.",
            array=name,
            route="the gradient of the array read"
            if orphan.gradient is orphan.read
            else "the gradient of the old array",
            repaired=life.meant,
            evidence={
                "stepped_made_at": None if made is None else made.line,
                "read_made_at": None if read is None else read.line,
            },
        )
    ]
