"""RG403: the adjoint needs a value computed in a loop with a run-time bound."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG403",
    name="dynamic-loop",
    group="kernels",
    summary="The adjoint needs a value that a loop computes, and Warp does not keep what a loop computes.",
    finds=(
        "Loops that Warp does not unroll (a bound known at run time, `while`, more turns than `max_unroll`) and that "
        "change a variable from before them, in kernels whose launch fails its own derivative test. Proven by a twin "
        "with the loop unrolled to the turns that it took, or with what it carries stored turn by turn: it must "
        "compute the same and pass the test, and the loop put back must change the gradient."
    ),
    why=(
        "In the backward pass Warp repeats the arithmetic of a kernel, but not that of such loops. What a loop carries "
        "from turn to turn, a product for instance, holds after the loop what it held before, and the adjoint of "
        "everything that is not linear in it is taken at the wrong value."
    ),
    fix=(
        "Give the loop a constant bound (`range(16)` with a guard inside, or `wp.static`), so that Warp unrolls it; or "
        "store each partial result in an element of an array; or let a function return the plain sum, and use it "
        "nonlinearly in the caller only."
    ),
    example_wrong="""
@wp.kernel
def grow(rate: wp.array(dtype=float), periods: int, out: wp.array(dtype=float)):
    w = float(1.0)
    for k in range(periods):             # a bound known at run time only
        w = w * (1.0 + rate[k])
    out[0] = w
""",
    example_right="""
@wp.kernel
def grow(rate: wp.array(dtype=float), out: wp.array(dtype=float)):
    w = float(1.0)
    for k in range(4):                   # a constant bound is unrolled
        w = w * (1.0 + rate[k])
    out[0] = w
""",
    known_problems=(
        "Loops of more than 40 turns, those of the loops in them counted, are proven by storing what they carry "
        "instead; no patch comes with that. Where what they carry would take more than 64 MB or is no number or "
        "vector, or where a function with such a loop is called in a `while` loop, the launch is reported as RG410."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#dynamic-loops",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Loops that launches cannot do with."""
    return cured(judgement, CAUSE.code)
