"""RG504: two evaluations at one point differ."""

from __future__ import annotations

from collections.abc import Sequence

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG504",
    name="random-forward",
    group="remarks",
    summary="Two evaluations at one point differ: random draws, or state left over from the evaluation before.",
    finds=(
        "Kernels on the path that draw random numbers, and objectives that change when the program is run again "
        "unperturbed. A re-execution starts from a copy of the process, random state included, so that draws are the "
        "same and differences mean something."
    ),
    why=(
        "The gradient is that of the realisation at hand. Differences between two evaluations, and the loss from one "
        "iteration to the next, also contain the noise."
    ),
    fix="Fix the seed while checking gradients; rebuild the state in each evaluation.",
    example_wrong="state = wp.rand_init(int(time.time()), i)",
    example_right="state = wp.rand_init(seed, i)",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Random kernels on the path, and objectives that do not repeat."""
    for judgement in judgements:
        case = judgement.case
        launch = next((o for o in case.window.launches if o.launch is not None and o.launch.random), None)
        if launch is not None and launch.launch is not None:
            message = f"Kernel {launch.launch.kernel.key} draws random numbers; they were kept while measuring."
            return [_remark(judgement, launch.site, launch.index, message, "random numbers in a kernel")]
        if not judgement.repeatable:
            message = "Two runs of the program from one point gave two values of the objective."
            site = case.life.backwards[-1].site
            return [_remark(judgement, site, case.life.last, message, "the objective does not repeat")]
    return []


def _remark(judgement: Judgement, site: object, order: int, message: str, route: str) -> Suspect:
    from retrograde.trace.callsite import NOWHERE, CallSite

    return Suspect(
        code=CAUSE.code,
        site=site if isinstance(site, CallSite) else NOWHERE,
        order=order,
        message=message,
        fix=CAUSE.fix,
        array=judgement.case.life.name,
        route=route,
    )
