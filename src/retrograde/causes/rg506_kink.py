"""RG506: the objective has a kink at the audited point."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import Case
from retrograde.gradients.rungs import Direction
from retrograde.gradients.slopes import admits
from retrograde.trace.callsite import CallSite

CAUSE = Cause(
    code="RG506",
    name="kink",
    group="remarks",
    summary="The objective has a kink, or a tie, at the audited point: several derivatives are valid.",
    finds=(
        "Slopes that differ on the two sides of the point, however small the step. Along single elements, the gradient "
        "used lies between them."
    ),
    why=(
        "Where `max`, `min`, `abs` or a branch changes sides, the derivative jumps. Central differences give the mean "
        "of the two sides, Warp's adjoint that of the branch taken, and another implementation maybe the other one: "
        "all are right, and none of them is evidence against another."
    ),
    fix="None needed; move the point, or smooth the kink, before comparing with differences.",
    example_wrong="wp.atomic_add(loss, 0, wp.max(1.0 - w[0] * x[i], 0.0))       # at w[0] * x[i] == 1",
    example_right="wp.atomic_add(loss, 0, wp.log(1.0 + wp.exp(1.0 - w[0] * x[i])))",
    known_problems="The line named is the first that can have a kink; a kernel may have several.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)

_BENT = frozenset(
    {"max", "min", "abs", "clamp", "sign", "where", "select", "atomic_max", "atomic_min", "argmax", "argmin"}
)
_CLEAR = 1e-3


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Parameters along which the slopes of the two sides differ."""
    found: dict[str, Suspect] = {}
    for judgement in judgements:
        name = judgement.case.life.name
        if judgement.opinion is not Opinion.RIGHT or name in found:
            continue
        bent = [d for d in judgement.case.directions if _jump(d) > _CLEAR * _size(d)]
        if bent:
            found[name] = _suspect(judgement.case, max(bent, key=lambda d: (admits(d, d.consumed) is True, _jump(d))))
    return list(found.values())


def _jump(direction: Direction) -> float:
    if direction.left is None or direction.right is None:
        return 0.0
    return abs(direction.right - direction.left)


def _size(direction: Direction) -> float:
    return max(abs(direction.left or 0.0), abs(direction.right or 0.0), abs(direction.consumed or 0.0))


def _suspect(case: Case, direction: Direction) -> Suspect:
    last = case.life.backwards[-1]
    return Suspect(
        code=CAUSE.code,
        site=next(_bent_lines(case), last.site),
        order=last.index,
        message=(
            f"Along {direction.label} of {case.life.name} the objective's slope is {direction.left:.6g} on one side "
            f"and {direction.right:.6g} on the other; the gradient used says {direction.consumed:.6g}, which is one of "
            f"the valid derivatives."
        ),
        fix=CAUSE.fix,
        array=case.life.name,
        route="one-sided differences",
        evidence={"left": direction.left, "right": direction.right, "consumed": direction.consumed},
    )


def _bent_lines(case: Case) -> Iterator[CallSite]:
    """Lines of the kernels that ran which can have a kink."""
    for operation in case.window.launches:
        if operation.launch is None:
            continue
        adjoint = operation.launch.kernel.adj
        for line in _lines(adjoint):
            yield CallSite(adjoint.filename, line, operation.launch.kernel.key)


def _lines(adjoint: Any) -> list[int]:
    found: set[int] = set()
    for node in ast.walk(adjoint.tree):
        name = ""
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _BENT or isinstance(node, ast.If | ast.IfExp):
            found.add(int(adjoint.fun_lineno) + getattr(node, "lineno", 1) - 1)
    return sorted(found)
