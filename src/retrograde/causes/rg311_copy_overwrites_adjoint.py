"""RG311: the adjoint of a recorded copy replaces the gradient of its source, in Warp before 1.17."""

from __future__ import annotations

import re

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import Key
from retrograde.trace.operations import Kind
from retrograde.trace.warp_api import wp

CAUSE = Cause(
    code="RG311",
    name="copy-overwrites-adjoint",
    group="bookkeeping",
    summary="In Warp before 1.17 the adjoint of a recorded copy replaces the gradient of its source.",
    finds=(
        "Copies, clones and assignments between arrays on the tape, whose source is read again later, under Warp "
        "before 1.17. Proven by letting the adjoint of the copy replace that of its source in the sweep, and leaving "
        "that of its destination, as these versions do: the gradient must change."
    ),
    why=(
        "Backward comes to the later readers of the source first and collects their gradients. The adjoint of the copy "
        "then writes the destination's gradient over them. Since 1.17 it adds, and clears the destination's."
    ),
    fix="Copy in a kernel (`out[i] = x[i]`), or update Warp.",
    example_wrong="""
with tape:
    wp.copy(y, x)
    wp.launch(energy, dim=n, inputs=[x, y, loss])        # reads x as well
""",
    example_right="""
with tape:
    wp.launch(copy_kernel, dim=n, inputs=[x], outputs=[y])
    wp.launch(energy, dim=n, inputs=[x, y, loss])
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)

_ADDS_SINCE = (1, 17)


def find(judgement: Judgement) -> list[Suspect]:
    """Taped copies, where Warp's version has this fault."""
    return suspects(judgement) if replaces(str(wp.__version__)) else []


def replaces(version: str) -> bool:
    """Whether the adjoint of a copy replaces its source's gradient in a version of Warp."""
    numbers = [int(n) for n in re.findall(r"\d+", version)[:2]]
    return tuple(numbers) < _ADDS_SINCE


def suspects(judgement: Judgement) -> list[Suspect]:
    """Call sites of taped copies."""
    case = judgement.case
    found: dict[Key, Suspect] = {}
    for operation in case.window.operations:
        key = operation.site.key
        if operation.kind is not Kind.COPY or operation.tape is None or operation.copy is None or key in found:
            continue
        source, target = (case.recording.name(r) for r in (operation.copy.source, operation.copy.destination))

        def switch_off(policy: Policy, key: Key = key) -> Policy:
            return policy.without(replacing=policy.replacing | {key})

        found[key] = Suspect(
            code=CAUSE.code,
            site=operation.site,
            order=operation.index,
            message=(
                f"Backward through this copy writes the gradient of {target} over that of {source}, which later "
                f"readers of {source} had already added to (Warp {wp.__version__})."
            ),
            fix=f"Copy {source} in a kernel, or update Warp to 1.17 or later.",
            array=source,
            route="adjoint of a copy",
            switch_off=switch_off,
        )
    return list(found.values())
