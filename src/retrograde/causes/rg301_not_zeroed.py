"""RG301: gradients of earlier passes are still in the buffers."""

from __future__ import annotations

import numpy as np

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.leftovers import begun_with_earlier
from retrograde.gradients.life import Life, added_to
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import NOWHERE, CallSite

CAUSE = Cause(
    code="RG301",
    name="not-zeroed",
    group="bookkeeping",
    summary="Gradients of earlier iterations or calls are still in the buffer when backward adds to it.",
    finds=(
        "Gradient buffers, of the parameter or of anything on the tape, that are not zero when `backward()` begins. "
        "Proven by taking away what was there: the rest must be the right gradient, or by leaving it in the sweep: "
        "the gradient must change as the user's did."
    ),
    why=(
        "`backward()` adds to `.grad`. Without `tape.zero()` (or `x.grad.zero_()`) between iterations the optimizer "
        "follows the running sum of all gradients so far. Gradients left in buffers between parameter and loss are "
        "passed on again."
    ),
    fix="Call `tape.zero()` after each step (or zero the gradient buffer before backward).",
    example_wrong="""
for iteration in range(n):
    tape = wp.Tape()
    with tape:
        ...
    tape.backward(loss)
    optimizer.step([x.grad])
""",
    example_right="""
for iteration in range(n):
    tape = wp.Tape()
    with tape:
        ...
    tape.backward(loss)
    optimizer.step([x.grad])
    tape.zero()
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """What lay in the parameter's own buffer, and what lay in others."""
    return [*_own(judgement), *_others(judgement)]


def _own(judgement: Judgement) -> list[Suspect]:
    life = judgement.case.life
    started = [(o, old) for o, old in added_to(life) if old.any()]
    if not started or life.consumed is None or life.taped is None:
        return []
    first = started[0][0]
    old = sum((old for _, old in started[1:]), started[0][1])
    return [
        Suspect(
            code=CAUSE.code,
            site=first.site,
            order=first.index,
            message=(
                f"{life.name}.grad still held the gradient of earlier passes (norm {np.linalg.norm(old):.4g}) when "
                f"this backward began, and it was added to."
            ),
            fix=_fix(life),
            array=life.name,
            route="the parameter's own buffer",
            repaired=life.taped - old,
            follows=life.taped,
            evidence={"left_over_norm": float(np.linalg.norm(old))},
        )
    ]


def _fix(life: Life) -> str:
    if life.in_torch:
        return "Call optimizer.zero_grad() after the update, before the next backward."
    if life.nested:
        return "Clear the gradients of Warp's arrays in the function's backward, before it runs the tape."
    return "Call tape.zero() after the update, before the next backward."


def _others(judgement: Judgement) -> list[Suspect]:
    """Gradients of earlier iterations that lay in buffers of intermediates and of losses."""
    held = begun_with_earlier(judgement.case)
    if not held:
        return []
    operation = held[0]
    indices = frozenset(o.index for o in held)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(leftovers=policy.leftovers | indices)

    site: CallSite = operation.site if operation.site.file else NOWHERE
    return [
        Suspect(
            code=CAUSE.code,
            site=site,
            order=operation.index,
            message=(
                "Gradients of an earlier backward were still in buffers of this tape (a loss, or arrays between) when "
                "this one began, and were propagated again."
            ),
            fix="Call tape.zero() after the update, before the next backward.",
            array=None,
            route="buffers between parameter and loss",
            switch_off=switch_off,
        )
    ]
