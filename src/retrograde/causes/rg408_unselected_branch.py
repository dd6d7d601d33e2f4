"""RG408: the operand that a selection did not choose sends NaN or inf back."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG408",
    name="unselected-branch",
    group="kernels",
    summary="`wp.where` sends NaN or inf back from the operand that it did not choose.",
    finds=(
        "Calls of `wp.where` and `wp.select` in kernels whose adjoint is not finite. Proven by a twin with a branch in "
        "their place, which runs the chosen side only: it must pass the launch's derivative test, and the selection "
        "put back must change the gradient."
    ),
    why=(
        "A selection computes both operands. In backward the one that was not chosen gets an adjoint of zero, and zero "
        "times the infinite slope of a square root at zero, or of a quotient, is NaN. The forward value is fine."
    ),
    fix="Write a branch (`if`/`else`, or `a if c else b`), or make the argument of the operand safe first.",
    example_wrong="""
r = wp.where(s > 0.0, wp.sqrt(s), 0.0)
""",
    example_right="""
r = wp.sqrt(s) if s > 0.0 else 0.0
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Selections that launches cannot do with."""
    return cured(judgement, CAUSE.code)
