"""RG401: a product or a quotient in place on an array element."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.causes.needs_before import needs_before
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG401",
    name="in-place-multiply",
    group="kernels",
    summary="A kernel multiplies or divides an array element in place.",
    finds=(
        "`*=` and `/=` on array elements, in kernels whose launch fails its own derivative test. Proven by giving the "
        "adjoint the contents from before the launch, or by a twin which keeps the element in a local variable: the "
        "test must pass, and the product put back must change the gradient."
    ),
    why=(
        "Warp gives `+=` and `-=` on an array element an adjoint of its own; for `*=` and `/=` it loads, multiplies "
        "and stores. In backward the load sees what the store left, so the factor's gradient is multiplied by the "
        "product instead of by what was there before."
    ),
    fix="Compute the product in a local variable, and write it to an element that was not read: of another array.",
    example_wrong="""
@wp.kernel
def absorb(beam: wp.array(dtype=float), pane: wp.array(dtype=float), k: int):
    i = wp.tid()
    beam[i] *= pane[k]
""",
    example_right="""
@wp.kernel
def absorb(beam: wp.array(dtype=float), pane: wp.array(dtype=float), k: int, behind: wp.array(dtype=float)):
    i = wp.tid()
    behind[i] = beam[i] * pane[k]
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#in-place-math-operations",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Products in place that launches cannot do with."""
    products = [
        need.suspect(
            CAUSE.code,
            f"Kernel {need.kernel} multiplies or divides {need.fields} in place; backward re-reads the product.",
            f"Write the product to another array than {need.fields}, and read that one from here on.",
        )
        for need in needs_before(judgement)
        if need.multiplied
    ]
    return products + cured(judgement, CAUSE.code)
