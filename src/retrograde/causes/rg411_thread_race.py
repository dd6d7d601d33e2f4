"""RG411: threads of one launch read what others write."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import differenced
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG411",
    name="thread-race",
    group="kernels",
    summary="Threads of one launch read what others write, so that the result depends on their order.",
    finds=(
        "Launches that fail their own derivative test, that no twin cures, and that leave other values when their "
        "threads run in the opposite order. Proven by that, and by putting the derivative of the launch, by "
        "differences, in place of its adjoint: the gradient must change."
    ),
    why=(
        "A thread that reads its neighbour's element sees the old value or the new one, as it happens. On the CPU "
        "threads run one after another, so the values are the same each time, and wrong ones for what was meant; the "
        "adjoint takes each thread for itself."
    ),
    fix="Read from one array and write to another.",
    example_wrong="""
@wp.kernel
def smooth(u: wp.array(dtype=float)):
    i = wp.tid()
    u[i + 1] = 0.5 * (u[i] + u[i + 2])
""",
    example_right="""
@wp.kernel
def smooth(u: wp.array(dtype=float), smoothed: wp.array(dtype=float)):
    i = wp.tid()
    smoothed[i + 1] = 0.5 * (u[i] + u[i + 2])
""",
    known_problems="Looked for on the CPU only.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#limitations-and-workarounds",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Launches whose result depends on the order of their threads."""
    return differenced(judgement, CAUSE.code)
