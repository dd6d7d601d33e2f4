"""RG504: two evaluations at one point differ."""

from __future__ import annotations

from collections.abc import Sequence

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.trace.callsite import CallSite
from retrograde.trace.operations import LaunchCall, Operation

CAUSE = Cause(
    code="RG504",
    name="random-forward",
    group="remarks",
    summary="Two evaluations at one point differ: random draws, or state left over from the evaluation before.",
    finds=(
        "Kernels on the path that draw from other seeds in other iterations, generators on the host that are drawn from between two "
        "iterations, and objectives that change when the program is run again "
        "unperturbed. A re-execution starts from a copy of the process, random state included, so that draws are the "
        "same and differences mean something."
    ),
    why=(
        "The gradient is that of the realisation at hand. Differences between two evaluations, and the loss from one "
        "iteration to the next, also contain the noise."
    ),
    fix="Fix the seed while checking gradients; rebuild the state in each evaluation.",
    example_wrong="noise = wp.array(rng.normal(size=n), dtype=float)      # another draw in each iteration",
    example_right="noise = wp.array(np.random.default_rng(seed).normal(size=n), dtype=float)",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Random draws that differ from one iteration to the next, and objectives that do not repeat."""
    for judgement in judgements:
        case = judgement.case
        launch = next((o for o in case.window.launches if o.launch is not None and _draws_anew(o, judgements)), None)
        if launch is not None and launch.launch is not None:
            message = (
                f"Kernel {launch.launch.kernel.key} draws other random numbers in each iteration; they were kept while "
                f"measuring."
            )
            return [_remark(judgement, launch.site, launch.index, message, "random numbers in a kernel")]
        if any(o.backward is not None and o.backward.draws for o in case.life.backwards):
            message = "The host draws random numbers in each iteration; they were kept while measuring."
            site = case.life.backwards[-1].site
            return [_remark(judgement, site, case.life.last, message, "random numbers on the host")]
        if not judgement.repeatable:
            message = "Two runs of the program from one point gave two values of the objective."
            site = case.life.backwards[-1].site
            return [_remark(judgement, site, case.life.last, message, "the objective does not repeat")]
    return []


def _draws_anew(operation: Operation, judgements: Sequence[Judgement]) -> bool:
    """Whether a launch draws random numbers from a seed that another iteration does not use."""
    call = operation.launch
    if call is None or not call.random:
        return False
    mine = _numbers(call)
    others = (
        {_numbers(o.launch) for o in j.case.window.launches if o.launch is not None and o.launch.kernel is call.kernel}
        for j in judgements
    )
    return any(seeds and mine not in seeds for seeds in others)


def _numbers(call: LaunchCall) -> tuple[float, ...]:
    """The plain numbers among a launch's arguments."""
    return tuple(float(a) for a in call.arguments if isinstance(a, int | float))


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
