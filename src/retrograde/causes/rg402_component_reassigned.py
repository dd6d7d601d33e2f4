"""RG402: a component of a local vector is assigned twice."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG402",
    name="component-reassigned",
    group="kernels",
    summary="A component of a local vector, matrix or quaternion is assigned more than once.",
    finds=(
        "Local variables with several stores to their components, with one in a loop, or with `*=` on one, in kernels "
        "whose launch fails its own derivative test. Proven by a twin in which every store makes a new value of the "
        "whole variable: it must pass the test, and the stores put back must change the gradient."
    ),
    why=(
        "Warp keeps one copy of a local vector. A second store to a component leaves the adjoint of the first one "
        "standing, and backward reads the last value where the first was used."
    ),
    fix=(
        "Compute the components in scalars and make the vector of them once; or set "
        "`wp.config.enable_vector_component_overwrites`, which costs compile time."
    ),
    example_wrong="""
v = wp.vec2()
v[0] = x * x
v[0] = wp.sin(v[0])
""",
    example_right="""
a = x * x
v = wp.vec2(wp.sin(a), 0.0)
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#limitations-and-workarounds",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Stores that launches cannot do with."""
    return cured(judgement, CAUSE.code)
