"""RG513: the gradient is right and tiny: a plateau, or a saddle."""

from __future__ import annotations

from collections.abc import Sequence

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.rungs import Direction

CAUSE = Cause(
    code="RG513",
    name="flat-landscape",
    group="remarks",
    summary="The gradient is right, and tiny beside the objective itself: a plateau or a saddle.",
    finds=(
        "Slopes, per change of the parameters by their own size, of less than a thousandth of the objective, along "
        "every direction measured. A plateau has next to no curvature either; at a saddle the objective falls away on "
        "both sides of the point along some direction. A minimum is neither."
    ),
    why=(
        "Training that does not move is then no fault of the gradient: a saturated function, a start at which "
        "symmetric parts balance, or a badly scaled parameter."
    ),
    fix="Start elsewhere, rescale the parameter or the objective, or take an optimizer that adapts its step.",
    example_wrong="x = wp.zeros(n, dtype=float, requires_grad=True)        # the loss contains products of x",
    example_right="x = wp.array(rng.normal(size=n), dtype=float, requires_grad=True)",
    known_problems="An objective that does not change at all is a flat operation, not a flat landscape.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)

_TINY = 1e-3
_STRAIGHT = 1e-2
_BOTTOM = 0.02


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Parameters whose first right gradient is tiny beside the objective."""
    if any(j.opinion is Opinion.WRONG for j in judgements):
        return []
    found: dict[str, Suspect] = {}
    for judgement in judgements:
        name = judgement.case.life.name
        if name in found or judgement.opinion is not Opinion.RIGHT:
            continue
        known = [d for d in judgement.case.directions if d.value is not None and d.curvature is not None]
        kind = _kind(known) if len(known) > 1 else None
        if kind is not None:
            found[name] = _suspect(judgement, known, kind)
    return list(found.values())


def _kind(directions: Sequence[Direction]) -> str | None:
    size = max(abs(d.value or 0.0) for d in directions)
    if size == 0.0 or any(abs(d.reference) > _TINY * size for d in directions):
        return None
    bends = [d.curvature or 0.0 for d in directions]
    lowest = min(bends)
    if lowest < 0.0 and any(
        b == lowest and -b > 10.0 * abs(d.reference) for b, d in zip(bends, directions, strict=True)
    ):
        return "saddle" if -lowest > _TINY * size else None
    on_a_slope = any(abs(d.reference) > _BOTTOM * abs(d.curvature or 0.0) for d in directions)
    if on_a_slope and all(abs(b) <= _STRAIGHT * size for b in bends):
        return "plateau"
    return None


def _suspect(judgement: Judgement, directions: Sequence[Direction], kind: str) -> Suspect:
    case = judgement.case
    last = case.life.backwards[-1]
    value = next(d.value for d in directions if d.value is not None)
    slope = max(abs(d.reference) for d in directions)
    bend = min(d.curvature or 0.0 for d in directions)
    what = "hardly bends either" if kind == "plateau" else f"falls on both sides of it (second derivative {bend:.3g})"
    return Suspect(
        code=CAUSE.code,
        site=last.site,
        order=last.index,
        message=(
            f"The objective is {value:.6g}, and its steepest measured slope is {slope:.3g} for a change of "
            f"{case.life.name} by its own size; along some direction it {what}. The gradient is right: this is a "
            f"{kind}."
        ),
        fix=CAUSE.fix,
        array=case.life.name,
        route=kind,
        evidence={"objective": value, "slope": slope, "curvature": bend},
    )
