"""RG203: no path on the tape leads from the parameter to the loss."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.off_tape import unrecorded, writes_seed
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import Key

CAUSE = Cause(
    code="RG203",
    name="loss-disconnected",
    group="chain",
    summary="The loss that backward starts from was not computed on the tape.",
    finds=(
        "Launches and copies off the tape that write the loss. Proven by taking them into the sweep: the gradient "
        "must come back."
    ),
    why=(
        "A tape knows what ran while it was open. If the last step to the loss ran outside, backward starts at an "
        "array that nothing on the tape leads to, and every gradient is zero."
    ),
    fix="Compute the loss inside `with tape:`.",
    example_wrong="""
with tape:
    wp.launch(simulate, dim=n, inputs=[x], outputs=[y])
wp.launch(score, dim=n, inputs=[y], outputs=[loss])
tape.backward(loss)
""",
    example_right="""
with tape:
    wp.launch(simulate, dim=n, inputs=[x], outputs=[y])
    wp.launch(score, dim=n, inputs=[y], outputs=[loss])
tape.backward(loss)
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Unrecorded operations that write the loss."""
    case = judgement.case
    found: dict[Key, Suspect] = {}
    for operation in unrecorded(case):
        if not writes_seed(case, operation) or operation.site.key in found:
            continue
        key = operation.site.key

        def switch_off(policy: Policy, key: Key = key) -> Policy:
            return policy.without(skipped=policy.skipped | {key})

        name = case.recording.name(case.objective.seeds[0].ref)
        found[key] = Suspect(
            code=CAUSE.code,
            site=operation.site,
            order=operation.index,
            message=(
                f"This {operation.label} computes {name}, but no tape recorded it: on the tape nothing leads from "
                f"{case.life.name} to {name}."
            ),
            fix="Move it inside `with tape:`.",
            array=name,
            route="off the tape",
            switch_off=switch_off,
        )
    return list(found.values())
