"""RG308: housekeeping recorded on the tape after the loss."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy

CAUSE = Cause(
    code="RG308",
    name="work-after-loss",
    group="bookkeeping",
    summary="Housekeeping was recorded on the tape after the loss, and its adjoint swallows what backward starts from.",
    finds=(
        "Launches on the tape that replace the loss (or the array that is seeded) once it has been computed. The "
        "objective is taken to be what they replaced. Proven by leaving them out: the gradient must come back."
    ),
    why=(
        "Backward starts from the last contents of the loss. If a kernel on the tape has reset it for the next "
        "iteration, these contents depend on nothing: the adjoint of the reset clears the seed, and every gradient is "
        "zero. `loss.zero_()` at the same place is not recorded and does no harm."
    ),
    fix="Do it after `backward()`, or outside `with tape:`.",
    example_wrong="""
with tape:
    wp.launch(score, dim=n, inputs=[y, loss])
    wp.launch(log_and_reset, dim=1, inputs=[loss, history])
tape.backward(loss)
""",
    example_right="""
with tape:
    wp.launch(score, dim=n, inputs=[y, loss])
tape.backward(loss)
wp.launch(log_and_reset, dim=1, inputs=[loss, history])
""",
    known_problems="Work after the loss that changes contents which backward needs is RG101.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#array-overwrites",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Taped operations between the loss and the backward pass that replace the loss."""
    case = judgement.case
    found: list[Suspect] = []
    for term in case.objective.seeds:
        operation = case.recording.operations[term.index]
        if term.index == term.backward or operation.tape is None:
            continue
        index, name = term.index, case.recording.name(term.ref)

        def switch_off(policy: Policy, index: int = index) -> Policy:
            return policy.without(late=policy.late | {index})

        found.append(
            Suspect(
                code=CAUSE.code,
                site=operation.site,
                order=operation.index,
                message=(
                    f"This {operation.label} is recorded after {name} has been computed and replaces it: backward "
                    f"starts from what it leaves, which depends on nothing."
                ),
                fix="Move it after backward, or out of the tape.",
                array=name,
                route="on the tape after the loss",
                switch_off=switch_off,
                evidence={"backward_line": case.recording.operations[term.backward].site.line},
            )
        )
    return found
