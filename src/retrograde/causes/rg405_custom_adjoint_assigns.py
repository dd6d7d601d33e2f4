"""RG405: a custom adjoint assigns where it should add."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG405",
    name="custom-adjoint-assigns",
    group="kernels",
    summary="A custom adjoint assigns a gradient instead of adding to it.",
    finds=(
        "Assignments to `wp.adjoint[...]` in functions of `@wp.func_grad`. Proven by a twin with `+=` in place of `=`: "
        "it must pass the launch's derivative test, and the assignment put back must change the gradient."
    ),
    why=(
        "An argument's adjoint is the sum over everything that the argument was used for. An assignment throws away "
        "what other uses, later in the kernel or on the tape, have left there. With a single use it is not noticed."
    ),
    fix="Write `wp.adjoint[x] += ...`.",
    example_wrong="""
@wp.func_grad(push)
def adj_push(depth: float, adj_ret: float):
    wp.adjoint[depth] = 2.0 * depth * adj_ret
""",
    example_right="""
@wp.func_grad(push)
def adj_push(depth: float, adj_ret: float):
    wp.adjoint[depth] += 2.0 * depth * adj_ret
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#custom-gradient-functions",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Assignments that launches cannot do with."""
    return cured(judgement, CAUSE.code)
