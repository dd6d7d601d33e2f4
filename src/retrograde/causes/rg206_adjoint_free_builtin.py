"""RG206: a built-in on the path has no adjoint, or none by some operand."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured, differenced
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG206",
    name="adjoint-free-builtin",
    group="chain",
    summary="A built-in on the path from parameter to loss passes no gradient on, although its value depends on it.",
    finds=(
        "Built-ins of real numbers whose adjoint, tried alone at ordinary points, is not their derivative (in Warp "
        "1.19 `wp.frac`, and `wp.mod` by its divisor), in kernels whose launch fails its own derivative test. Proven "
        "by a twin in which the built-in's adjoint is made of its differences: it must pass the test, and the built-in "
        "put back must change the gradient. Also built-ins that reach into meshes and volumes by their id, where the "
        "launch differenced as a whole is the proof."
    ),
    why=(
        "Warp generates the adjoint of a kernel from those of its built-ins. Some have none, and some ignore an "
        "operand: the launch's adjoint is then zero where its derivative is not, and nothing says so. A query of a "
        "mesh differentiates by the point that is asked about, not by the mesh's vertices."
    ),
    fix="Write it with operations that have adjoints, or as a `@wp.func` with a `@wp.func_grad` of its own.",
    example_wrong="phase = wp.mod(t[i], period[0])                 # no gradient reaches period",
    example_right="phase = t[i] - wp.trunc(t[i] / period[0]) * period[0]",
    known_problems=(
        "Rounding, signs and comparisons have the derivative zero almost everywhere: they are right to pass nothing on "
        "and are not reported here."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#limitations-and-workarounds",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Built-ins that launches cannot do with."""
    return [*cured(judgement, CAUSE.code), *differenced(judgement, CAUSE.code)]
