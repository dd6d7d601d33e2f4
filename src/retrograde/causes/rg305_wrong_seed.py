"""RG305: backward was seeded for another objective than the reported one."""

from __future__ import annotations

import numpy as np

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG305",
    name="wrong-seed",
    group="bookkeeping",
    summary="Backward was seeded for another objective than the one the program reports.",
    finds=(
        "Seeds (`grads=`, or gradients set by hand) with one weight for all elements, where the program reports the "
        "sum or mean of the same array with another weight. Proven by seeding anew: the gradient must become that of "
        "the reported number, by one exact factor."
    ),
    why=(
        "A seed of ones differentiates the sum. If the objective is the mean over N elements, every gradient is N "
        "times too large, and so is every step."
    ),
    fix="Seed with the derivative of what is reported (1/N for a mean), or reduce to one number in a kernel.",
    example_wrong="""
tape.backward(grads={residual: wp.ones_like(residual)})
print(residual.numpy().mean())
""",
    example_right="""
tape.backward(grads={residual: wp.full_like(residual, 1.0 / residual.size)})
print(residual.numpy().mean())
""",
    known_problems="A scalar loss seeded by hand with a factor is taken for loss scaling and not reported.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Uniform seeds that differ from the weight of the reported number."""
    case = judgement.case
    objective = case.objective
    if objective.reported is None or case.life.consumed is None:
        return []
    used, wanted = objective.used[0].weights, objective.seeds[0].weights
    factor = float(used.flat[0] / wanted.flat[0])
    operation = case.life.backwards[-1]
    with np.errstate(invalid="ignore"):
        repaired = case.life.consumed / factor
    name = case.recording.name(objective.seeds[0].ref)
    return [
        Suspect(
            code=CAUSE.code,
            site=operation.site,
            order=operation.index,
            message=(
                f"Backward is seeded with {used.flat[0]:.6g} on each element of {name}, but the program reports "
                f"{objective.reported.source}, whose derivative is {wanted.flat[0]:.6g}: every gradient is "
                f"{factor:.6g} times that of the reported number."
            ),
            fix=f"Seed {name} with {wanted.flat[0]:.6g}.",
            array=name,
            route="seed",
            repaired=repaired,
            scale=factor,
            evidence={"seed": float(used.flat[0]), "reported_weight": float(wanted.flat[0])},
        )
    ]
