"""Gradients that are read through a view and cleared under it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from retrograde.lint.host import HostScope, host_scopes
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG303", "read-after-zero"
FIX = "Take a copy, `x.grad.numpy().copy()`, or clear after the last use."


def find(module: SourceModule) -> Iterator[Sighting]:
    """A name bound to `x.grad.numpy()`, then a clear, then a use of the name: on the CPU it shows zeros by then."""
    for scope in host_scopes(module):
        for body in _bodies(scope):
            yield from _body(body)


def _bodies(scope: HostScope) -> Iterator[Sequence[ast.stmt]]:
    yield scope.node.body
    for statement in scope.statements:
        for part in ("body", "orelse", "finalbody"):
            inner = getattr(statement, part, None)
            if inner and not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield inner


def _body(body: Sequence[ast.stmt]) -> Iterator[Sighting]:
    views: dict[str, ast.stmt] = {}
    cleared: set[str] = set()
    for statement in body:
        for name in sorted(_used(statement) & cleared) if cleared else ():
            yield Sighting(
                statement,
                f"`{name}` is a view of a gradient that was cleared since: on the CPU it shows zeros here.",
            )
            cleared.discard(name)
        if isinstance(statement, ast.Assign):
            names = {t.id for t in statement.targets if isinstance(t, ast.Name)}
            for name in names:
                views.pop(name, None)
                cleared.discard(name)
            if _is_view(statement.value):
                views.update(dict.fromkeys(names, statement))
        elif isinstance(statement, ast.Expr) and _clears(statement.value):
            cleared |= views.keys()


def _used(statement: ast.stmt) -> set[str]:
    return {n.id for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _is_view(node: ast.expr) -> bool:
    """`x.grad.numpy()` or `tape.gradients[x].numpy()`, as it is."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"):
        return False
    base = node.func.value
    if isinstance(base, ast.Subscript):
        base = base.value
    return isinstance(base, ast.Attribute) and base.attr in ("grad", "gradients")


def _clears(node: ast.expr) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    base = node.func.value
    if node.func.attr == "zero_":
        return isinstance(base, ast.Attribute) and base.attr == "grad"
    return node.func.attr == "zero" and not node.args
