"""RG309: a scratch buffer is cleared by a call that the tape does not record."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.outside import is_link
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import Key
from retrograde.trace.operations import Kind, Operation

CAUSE = Cause(
    code="RG309",
    name="unrecorded-clear",
    group="bookkeeping",
    summary="A buffer is cleared for its next use by a call that the tape does not record.",
    finds=(
        "Fills, assignments and copies off the tape onto arrays that are used again. Proven by ending the adjoint at "
        "the clear: the gradient must change."
    ),
    why=(
        "`zero_()`, `fill_()` and assignments from the host leave no trace on the tape. The gradient of the buffer's "
        "later use is still in `.grad` when backward reaches the earlier use, and flows into it as well. No content is "
        "wrong, so tools that look for overwritten values find nothing."
    ),
    fix="Use a fresh buffer each time, or clear it with a kernel, whose adjoint clears the gradient too.",
    example_wrong="""
for step in range(steps):
    force.zero_()
    wp.launch(add_forces, dim=n, inputs=[x[step], force])
    wp.launch(move, dim=n, inputs=[x[step], force, x[step + 1]])
""",
    example_right="""
for step in range(steps):
    force = wp.zeros(n, dtype=float, requires_grad=True)
    wp.launch(add_forces, dim=n, inputs=[x[step], force])
    wp.launch(move, dim=n, inputs=[x[step], force, x[step + 1]])
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#limitations-and-workarounds",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Unrecorded writes from outside on arrays that have a gradient buffer."""
    found: dict[Key, Suspect] = {}
    for operation in judgement.case.window.operations:
        if not _is_clear(operation) or operation.site.key in found or is_link(judgement.case, operation):
            continue
        found[operation.site.key] = _suspect(judgement, operation)
    return list(found.values())


def _is_clear(operation: Operation) -> bool:
    if operation.tape is not None or operation.kind not in (Kind.FILL, Kind.HOST_WRITE, Kind.COPY):
        return False
    access = operation.accesses[0]
    return access.ref.differentiable and access.ref.gradient is not None


def _suspect(judgement: Judgement, operation: Operation) -> Suspect:
    key = operation.site.key
    name = judgement.case.recording.name(operation.accesses[0].ref)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(uncleared=policy.uncleared | {key})

    return Suspect(
        code=CAUSE.code,
        site=operation.site,
        order=operation.index,
        message=(
            f"This {operation.kind.value} resets {name}, but the tape does not know: the gradient of its later use is "
            f"passed on to its earlier use as well."
        ),
        fix=f"Allocate {name} afresh here, or clear it with a kernel launch.",
        array=name,
        route=operation.route or operation.kind.value,
        switch_off=switch_off,
    )
