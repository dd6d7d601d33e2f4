"""RG103: contents changed between the end of recording and `backward()`."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.overwrites import overwrites
from retrograde.causes.rg101_overwritten_input import suspect_of
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG103",
    name="overwritten-after-tape",
    group="contents",
    summary="Values that the tape had read were changed between the end of recording and `backward()`.",
    finds=(
        "Writes to memory that a taped operation had read, made after the tape was closed and before `backward()`, by "
        "whatever route; to build a hash grid or a BVH again is such a write. Proven as RG101: restoring those "
        "contents must change the gradient."
    ),
    why=(
        "Nothing on the tape is wrong, and tools that look only at taped operations see nothing. Yet `backward()` "
        "reads memory as it is when it runs."
    ),
    fix="Call `backward()` first, or write to another array.",
    example_wrong="""
with tape:
    wp.launch(energy, dim=n, inputs=[x, coefficient, loss])
wp.launch(refresh, dim=n, inputs=[coefficient])     # for the next round
tape.backward(loss)
""",
    example_right="""
with tape:
    wp.launch(energy, dim=n, inputs=[x, coefficient, loss])
tape.backward(loss)
wp.launch(refresh, dim=n, inputs=[coefficient])
""",
    known_problems=(
        "`Volume.rebuild` is not seen: where it changes a volume before `backward()`, the gradient is called wrong, "
        "and the error stays unexplained. Voxels that kernels store are seen, as are points of meshes, and what hash "
        "grids and BVHs were built on."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#array-overwrites",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Call sites that overwrite what a closed tape had read."""
    return [suspect_of(judgement, o, CAUSE.code) for o in overwrites(judgement.case) if o.after_tape]
