"""Selections: `wp.where` differentiates both operands, so that one that was not chosen may send NaN back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.gradients.twins.rewrite import Edit, Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of

_ORDER = {"where": (0, 1, 2), "select": (0, 2, 1)}
"""Positions of the condition, of the operand chosen where it holds, and of the other."""


def find_selections(situation: Situation) -> list[Rewrite]:
    """One rewrite for each selection: a conditional expression, which Warp makes a branch, in its place."""
    if situation.finite:
        return []
    return [r for piece in situation.source.all() for r in _selections(piece)]


def _selections(piece: FunctionSource) -> Iterator[Rewrite]:
    for node in ast.walk(piece.tree):
        if isinstance(node, ast.Call) and len(node.args) == 3 and not node.keywords:
            order = _ORDER.get(piece.builtin(node) or "")
            if order is not None:
                yield Rewrite(
                    code="RG408",
                    source=piece,
                    line=node.lineno,
                    subject=ast.unparse(node),
                    edits={number_of(node): _branch(order)},
                    advice="Choose by a real branch (if and else, or a conditional expression): it runs one side only.",
                )


def _branch(order: tuple[int, int, int]) -> Edit:
    condition, chosen, other = order

    def edit(node: ast.Call) -> ast.expr:
        return ast.IfExp(node.args[condition], node.args[chosen], node.args[other])

    return edit
