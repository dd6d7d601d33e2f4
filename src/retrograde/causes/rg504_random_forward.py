"""RG504: two evaluations at one point differ."""

from __future__ import annotations

from collections.abc import Sequence

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.trace.callsite import CallSite

CAUSE = Cause(
    code="RG504",
    name="random-forward",
    group="remarks",
    summary="Two evaluations at one point differ: random draws, or state left over from the evaluation before.",
    finds=(
        "Objectives that change when the program is run again unperturbed, and generators on the host without a seed "
        "that are drawn from between two iterations. A re-execution starts from a copy of the process, random state "
        "included, so that draws are the same and differences mean something."
    ),
    why=(
        "The gradient is that of the realisation at hand. Differences between two evaluations, and the loss from one "
        "iteration to the next, also contain the noise."
    ),
    fix=(
        "Fix the seed while checking gradients; rebuild the state in each evaluation. Where draws decide what happens "
        "(accept or reject, who meets whom), the derivative of the mean needs an estimator: a score function, a "
        "relaxation, or reparameterised draws."
    ),
    example_wrong="noise = wp.array(rng.normal(size=n), dtype=float)      # another draw in each iteration",
    example_right="noise = wp.array(np.random.default_rng(seed).normal(size=n), dtype=float)",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Unseeded draws, and objectives that do not repeat."""
    for judgement in judgements:
        case = judgement.case
        last = case.life.backwards[-1]
        if any(o.backward is not None and o.backward.draws for o in case.life.backwards):
            message = "The host draws random numbers without a seed in each iteration; they were kept while measuring."
            return [_remark(judgement, last.site, last.index, message, "random numbers on the host")]
        if not judgement.repeatable:
            random = next((o for o in case.window.launches if o.launch is not None and o.launch.random), None)
            where = "" if random is None or random.launch is None else f"; kernel {random.launch.kernel.key} draws"
            message = f"Two runs of the program from one point gave two values of the objective{where}."
            site = last.site if random is None else random.site
            return [_remark(judgement, site, last.index, message, "the objective does not repeat")]
    return []


def _remark(judgement: Judgement, site: CallSite, order: int, message: str, route: str) -> Suspect:
    return Suspect(
        code=CAUSE.code,
        site=site,
        order=order,
        message=message,
        fix=CAUSE.fix,
        array=judgement.case.life.name,
        route=route,
    )
