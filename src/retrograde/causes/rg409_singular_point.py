"""RG409: a built-in is evaluated where its derivative is not finite."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured, differenced
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG409",
    name="singular-point",
    group="kernels",
    summary="A square root, quotient, logarithm, power or arc cosine is evaluated where its derivative is not finite.",
    finds=(
        "Built-ins that make a non-finite cotangent from a finite one: the place where it begins, not those that pass "
        "it on. Proven by a twin in which that built-in sends nothing back at such a point: it must pass the launch's "
        "derivative test, and the built-in put back must change the gradient. Arc functions at exactly one, where Warp "
        "passes nothing on, are proven by the derivative of the launch, by differences."
    ),
    why=(
        "The slope of a square root at zero is infinite; times a cotangent of zero it is NaN, and NaN spreads to "
        "everything before it. The function around it may well be smooth: half the square of a length is. In single "
        "precision an arc cosine near one is at one."
    ),
    fix="Keep the argument away from the point, take a branch before it, or use a form that has no such point.",
    example_wrong="""
length = wp.sqrt(wp.dot(d, d))
energy = 0.5 * length * length
""",
    example_right="""
energy = 0.5 * wp.dot(d, d)
""",
    known_problems=(
        "Where the objective itself has no finite derivative at the point, nothing can be measured, and the verdict "
        "is undecided."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Singular points that launches cannot do with."""
    return cured(judgement, CAUSE.code) + differenced(judgement, CAUSE.code)
