"""Custom adjoints that assign: `wp.adjoint[x] = ...` loses what other uses of x have left there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of


def find_assigned(situation: Situation) -> list[Rewrite]:
    """One rewrite for each assignment: `+=` in its place."""
    functions = [p for p in situation.source.functions if p.gradient is not None]
    return [r for p in functions if p.gradient is not None for r in _assignments(p.gradient, p.name)]


def _assignments(gradient: FunctionSource, function: str) -> Iterator[Rewrite]:
    for node in ast.walk(gradient.tree):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if not is_adjoint(target):
            continue
        name = ast.unparse(target)
        yield Rewrite(
            code="RG405",
            source=gradient,
            line=node.lineno,
            subject=f"The custom adjoint of {function} assigns {name}",
            edits={number_of(node): lambda n: ast.AugAssign(n.targets[0], ast.Add(), n.value)},
            advice=f"Add to the adjoint: write += for = at {name}.",
        )


def is_adjoint(node: ast.expr) -> bool:
    """Whether an expression is `wp.adjoint[x]`, or an element or a field of it."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "adjoint":
            return True
        node = node.value
    return False
