"""RG102: one kernel reads an element and then changes it."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.needs_before import needs_before
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG102",
    name="overwritten-in-kernel",
    group="contents",
    summary="One kernel reads an array element and then overwrites it.",
    finds=(
        "Launches whose own derivative test fails on the contents from after the launch. Proven by giving the "
        "launch's adjoint the contents from before it (or, where neither will do, by the derivative of the launch "
        "itself): the gradient must change, and the launch's test must pass."
    ),
    why=(
        "The adjoint of a launch repeats its loads but not its stores, so a load that came before the store sees what "
        "the store left. An in-place clamp, for instance, decides its branch again from the clamped value."
    ),
    fix="Write the new value to another array.",
    example_wrong="""
@wp.kernel
def wear(force: wp.array(dtype=float), pad: wp.array(dtype=float), heat: wp.array(dtype=float)):
    i = wp.tid()
    heat[i] = force[i] * pad[i]
    pad[i] = 0.9 * pad[i]
""",
    example_right="""
@wp.kernel
def wear(force: wp.array(dtype=float), pad: wp.array(dtype=float), worn: wp.array(dtype=float),
         heat: wp.array(dtype=float)):
    i = wp.tid()
    heat[i] = force[i] * pad[i]
    worn[i] = 0.9 * pad[i]
""",
    known_problems="A kernel that reads back what it has just written is right, and passes its launch test as it is.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#array-overwrites",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Launches that need contents from before themselves, and not because of a product in place."""
    return [
        need.suspect(
            CAUSE.code,
            f"Kernel {need.kernel} reads {need.fields} and then overwrites it; backward re-reads the new value.",
            f"Write the new value of {need.fields} to another array.",
        )
        for need in needs_before(judgement)
        if not need.multiplied
    ]
