"""RG505: single precision cannot resolve the objective's change."""

from __future__ import annotations

from collections.abc import Sequence

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.rungs import How

CAUSE = Cause(
    code="RG505",
    name="cancellation",
    group="remarks",
    summary="Single precision cannot resolve how the objective changes; the gradient was judged in double precision.",
    finds=(
        "Objectives of which no difference tells more than rounding. The kernels that ran, and the functions they "
        "call, are translated to double precision and replayed; the slopes are those of the translation, which gives "
        "the program's own objective at the point."
    ),
    why=(
        "Where a large constant is added to a small term that depends on the parameter, or large terms cancel, the "
        "change of a float32 objective is lost in its rounding. The adjoint does not subtract and is right all the "
        "same; a check by differences in single precision shows noise, and looks like a wrong gradient."
    ),
    fix="None needed for the gradient. Subtract the constant, or sum up in float64, before comparing with differences.",
    example_wrong="wp.atomic_add(loss, 0, 1.0e6 + wp.sin(x[0]))          # changes of 1 are lost in 1e6",
    example_right="wp.atomic_add(loss, 0, wp.sin(x[0]))",
    known_problems=(
        "What Warp offers in single precision only (queries of meshes and volumes, noise), native code, and values "
        "that pass through the host are not translated: such programs stay undecided."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Parameters whose gradient is right by slopes in double precision."""
    found: dict[str, Suspect] = {}
    for judgement in judgements:
        case, name = judgement.case, judgement.case.life.name
        wide = [d for d in case.directions if d.how is How.FLOAT64 and not d.jumps]
        if judgement.opinion is not Opinion.RIGHT or name in found or not wide:
            continue
        last, widest = case.life.backwards[-1], max(wide, key=lambda d: abs(d.reference))
        found[name] = Suspect(
            code=CAUSE.code,
            site=last.site,
            order=last.index,
            message=(
                f"Differences of the float32 objective, {widest.value or 0.0:.6g}, are lost in its rounding. In double "
                f"precision its slope along {widest.label} of {name} is {widest.reference:.6g}; the gradient used says "
                f"{widest.consumed:.6g}."
            ),
            fix=CAUSE.fix,
            array=name,
            route="double precision",
            evidence={"objective": widest.value, "slope": widest.reference, "consumed": widest.consumed},
        )
    return list(found.values())
