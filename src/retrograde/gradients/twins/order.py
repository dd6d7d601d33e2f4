"""The launch with its threads in the opposite order."""

from __future__ import annotations

import ast
from typing import Any

from retrograde.gradients.twins.parameters import EXTENT
from retrograde.gradients.twins.rewrite import Edit, Rewrite, Twin, make_twin
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import number_of


def in_reverse(situation: Situation) -> Twin | None:
    """A twin in which thread k does what the k-th last thread does; None where the kernel asks for no thread number.

    On the CPU the threads of a launch run one after another.
    """
    kernel = situation.source.kernel
    edits: dict[int, Edit] = {}
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Assign) and _asks(situation, node.value):
            edits[number_of(node)] = _assigned
    covered = {number_of(n) for s in ast.walk(kernel.tree) if number_of(s) in edits for n in ast.walk(s)}
    for node in ast.walk(kernel.tree):
        if _asks(situation, node) and number_of(node) not in covered:
            edits[number_of(node)] = _alone
    if not edits:
        return None
    rewrite = Rewrite("RG411", kernel, kernel.tree.lineno, "", edits, "", parameters=frozenset({EXTENT}))
    return make_twin(situation.source, [rewrite], situation.dimensions)


def _asks(situation: Situation, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and situation.source.kernel.builtin(node) == "tid"


def _assigned(node: ast.Assign) -> list[ast.stmt]:
    (target,) = node.targets
    names: list[Any] = list(target.elts) if isinstance(target, ast.Tuple) else [target]
    flips = [f"{n.id} = {EXTENT}[{axis}] - 1 - {n.id}" for axis, n in enumerate(names)]
    return [node, *ast.parse("\n".join(flips)).body]


def _alone(node: ast.Call) -> ast.expr:
    return ast.BinOp(ast.parse(f"{EXTENT}[0] - 1", mode="eval").body, ast.Sub(), node)
