"""RG302: the optimizer consumed the gradient of an earlier iterate."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect, gap, resolution
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG302",
    name="read-before-backward",
    group="bookkeeping",
    summary="The gradient was read before `backward()` of this iteration: it belongs to an earlier iterate.",
    finds=(
        "A gradient that was consumed before this iteration's `backward()` ran. Proven by the values: what was "
        "consumed is what an earlier pass left (zeros in the first iteration), and what this iteration's pass left "
        "is another gradient."
    ),
    why="The step follows the slope at a point that the parameter has left: training lags, oscillates or diverges.",
    fix="Read the gradient after `backward()`.",
    example_wrong="""
g = x.grad.numpy().copy()
tape.backward(loss)
x.assign(x.numpy() - rate * g)
""",
    example_right="""
tape.backward(loss)
g = x.grad.numpy().copy()
x.assign(x.numpy() - rate * g)
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """A consumed gradient that was read before the backward pass of its iteration."""
    case = judgement.case
    life = case.life
    if life.consumed is None or life.taped is None or not life.readings:
        return []
    reading = life.readings[-1]
    if reading.operation.index > life.backwards[-1].index:
        return []
    if gap(life.consumed, life.taped) <= resolution(case):
        return []
    matches = next((n for n, old in enumerate(life.earlier, 1) if gap(life.consumed, old) <= resolution(case)), None)
    if matches is not None:
        what = f"the gradient of {matches} iteration{'s' if matches > 1 else ''} earlier"
    elif not life.consumed.any():
        what = "zeros: no backward pass had filled it yet"
    else:
        what = "not what this iteration's backward left"
    return [
        Suspect(
            code=CAUSE.code,
            site=reading.operation.site,
            order=reading.operation.index,
            message=(
                f"{life.name}.grad is read here, before the backward pass at line {life.backwards[-1].site.line}; "
                f"it held {what}."
            ),
            fix="Move this line after backward.",
            array=life.name,
            route="read before backward",
            repaired=life.taped,
            evidence={"iterations_late": matches, "backward_line": life.backwards[-1].site.line},
        )
    ]
