"""RG404: a custom adjoint is not the derivative of its function."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG404",
    name="custom-adjoint-value",
    group="kernels",
    summary="A custom adjoint is not the derivative of its function.",
    finds=(
        "Functions with `@wp.func_grad` or `@wp.func_replay` in kernels whose launch fails its own derivative test. "
        "Proven by a twin without the custom adjoint, which Warp differentiates itself: it must pass the test, and "
        "the custom adjoint put back must change the gradient. The function is also compared alone with differences, "
        "at the values that ran, argument by argument: an argument without adjoint, a factor, a sign, or a branch."
    ),
    why=(
        "Warp takes a custom adjoint at its word. A factor forgotten, an argument left out, a change of the function "
        "that its adjoint did not follow gives a plausible wrong gradient."
    ),
    fix="Correct the custom adjoint, or leave it out: Warp differentiates most functions itself.",
    example_wrong="""
@wp.func
def push(depth: float, stiff: float):
    return 0.5 * stiff * depth * depth


@wp.func_grad(push)
def adj_push(depth: float, stiff: float, adj_ret: float):
    wp.adjoint[depth] += stiff * depth * adj_ret          # nothing for stiff
""",
    example_right="""
@wp.func_grad(push)
def adj_push(depth: float, stiff: float, adj_ret: float):
    wp.adjoint[depth] += stiff * depth * adj_ret
    wp.adjoint[stiff] += 0.5 * depth * depth * adj_ret
""",
    known_problems=(
        "A custom adjoint may differ from the derivative on purpose (a straight-through estimator, clipped gradients): "
        "declare that with `--accept RG404`."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#custom-gradient-functions",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Custom adjoints and replays that launches cannot do with."""
    return cured(judgement, CAUSE.code)
