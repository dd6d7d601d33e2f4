"""RG407: a native snippet without an adjoint on the path."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured, differenced
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG407",
    name="native-without-adjoint",
    group="kernels",
    summary="A native function on the path has no adjoint snippet.",
    finds=(
        "Functions of `@wp.func_native` without `adj_snippet` in kernels whose launch fails its own derivative test. "
        "Proven by a twin in which the function has an adjoint made of its own differences, or, where it takes arrays, "
        "by putting the derivative of the launch in place of its adjoint: the gradient must change."
    ),
    why="Warp cannot differentiate C++: without an adjoint snippet the function passes no gradient on, silently.",
    fix="Give the function an `adj_snippet`, or write it in Python.",
    example_wrong="""
@wp.func_native("return x * x * x;")
def cube(x: float) -> float: ...
""",
    example_right="""
@wp.func_native("return x * x * x;", adj_snippet="adj_x += 3.0f * x * x * adj_ret;")
def cube(x: float) -> float: ...
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#custom-native-functions",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Native functions without an adjoint in launches that fail their test."""
    return cured(judgement, CAUSE.code) + differenced(judgement, CAUSE.code)
