"""RG512: an adjoint summed up in half precision."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import differenced
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG512",
    name="half-precision-adjoint",
    group="kernels",
    summary="An adjoint is summed up in half precision, and loses most of its terms.",
    finds=(
        "Launches whose adjoint loses more than a twentieth in float16 arrays where all its terms have one sign, while "
        "the same kernel in double precision passes its derivative test. Proven by running the adjoint in double "
        "precision: the gradient must change."
    ),
    why=(
        "The gradient of an array has the array's type. Where many threads read one element of a float16 array, as "
        "many terms are added to one float16 number, which stops growing once a term is less than half the distance "
        "to the next number: 8,000 terms of 0.001 give 4 and not 8."
    ),
    fix="Keep the array that many threads read, and with it its gradient, in float32.",
    example_wrong="""
strength = wp.array([1.0], dtype=wp.float16, requires_grad=True)
""",
    example_right="""
strength = wp.array([1.0], dtype=wp.float32, requires_grad=True)
""",
    known_problems=(
        "Terms lost from one launch to the next, each of which adds little to a gradient in half precision, are not "
        "told from other faults. Kernels with structs or native code are not translated."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Launches whose adjoint is their derivative in double precision alone."""
    return differenced(judgement, CAUSE.code)
