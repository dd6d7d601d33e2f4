"""RG303: the gradient was cleared before it was used."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect, gap, resolution
from retrograde.gradients.judge import Judgement
from retrograde.trace.operations import Kind

CAUSE = Cause(
    code="RG303",
    name="read-after-zero",
    group="bookkeeping",
    summary="The gradient was cleared before it was used.",
    finds=(
        "A clear (`tape.zero()`, `tape.reset()`, `grad.zero_()`) between `backward()` and the use of the gradient. "
        "Proven by the gradient at the end of backward, which is another one than the one used. On the CPU also "
        "through the view that `.grad.numpy()` returns."
    ),
    why=(
        "On the CPU `.numpy()` does not copy: what it returns is the gradient buffer itself, and is cleared with it. "
        "The same line on CUDA copies and works."
    ),
    fix="Use the gradient first, or keep a copy: `x.grad.numpy().copy()`.",
    example_wrong="""
g = x.grad.numpy()
tape.zero()
x.assign(x.numpy() - rate * g)           # on the CPU, g is zero by now
""",
    example_right="""
g = x.grad.numpy().copy()
tape.zero()
x.assign(x.numpy() - rate * g)
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """A clear between the backward pass and the use."""
    case = judgement.case
    life = case.life
    if life.cleared is None or life.consumed is None or life.taped is None:
        return []
    if gap(life.consumed, life.taped) <= resolution(case):
        return []
    reading = life.readings[-1].operation if life.readings else None
    viewed = reading is not None and reading.kind is Kind.HOST_READ and reading.index < life.cleared.index
    how = "the NumPy view taken earlier was cleared with it" if viewed else "it was read only afterwards"
    return [
        Suspect(
            code=CAUSE.code,
            site=life.cleared.site,
            order=life.cleared.index,
            message=f"{life.name}.grad was cleared at line {life.cleared.site.line} before it was used: {how}.",
            fix="Use the gradient before clearing it, or copy it: .grad.numpy().copy().",
            array=life.name,
            route="NumPy view of the gradient" if viewed else "read after the clear",
            repaired=life.taped,
            evidence={"clear_line": life.cleared.site.line},
        )
    ]
