"""Arrays between parameter and loss that have no gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.host import HostScope, host_scopes, read_by, written_by
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG201", "missing-requires-grad"
FIX = "Allocate it with `requires_grad=True`."
_MAKERS = ("zeros", "empty", "ones", "full", "array", "from_numpy")


def find(module: SourceModule) -> Iterator[Sighting]:
    """Arrays without `requires_grad=True` that a recorded launch writes and a later one reads, or that are the loss."""
    for scope in host_scopes(module):
        if not scope.blocks or not any(True for _ in scope.own_calls("backward")):
            continue
        made = _made_without(scope)
        for block in scope.blocks:
            passed = _passed_on(scope, block.node.body) | _losses(scope)
            for name in [n for n in made if n in passed]:
                yield Sighting(
                    made.pop(name),
                    f"`{name}` lies between parameter and loss, and has no gradient: the chain ends there.",
                )


def _made_without(scope: HostScope) -> dict[str, ast.Call]:
    found: dict[str, ast.Call] = {}
    switched = {
        ast.unparse(t.value)
        for s in scope.statements
        if isinstance(s, ast.Assign)
        for t in s.targets
        if isinstance(t, ast.Attribute) and t.attr == "requires_grad"
    }
    for node in scope.statements:
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Call)):
            continue
        target = node.targets[0]
        if not isinstance(target, ast.Name) or scope.names.called(node.value) not in _MAKERS:
            continue
        given = {k.arg: k.value for k in node.value.keywords}
        if (
            target.id in switched
            or "requires_grad" in given
            or None in given
            or not _is_float(scope, given.get("dtype"))
        ):
            found.pop(target.id, None)
        else:
            found[target.id] = node.value
    return found


def _is_float(scope: HostScope, dtype: ast.expr | None) -> bool:
    """Whether an element type is written out and a floating one; an array without one may hold anything."""
    if dtype is None:
        return False
    known = dtype.id if isinstance(dtype, ast.Name) else None
    path = scope.names.resolve(dtype) or ""
    return known == "float" or (
        path.startswith(("float", "vec", "mat", "quat", "transform", "spatial_")) and not path.endswith(("i", "b"))
    )


def _passed_on(scope: HostScope, body: list[ast.stmt]) -> set[str]:
    """Names of arrays that one launch of a block writes and a later one reads."""
    written: set[str] = set()
    found: set[str] = set()
    for launch in scope.launches(body):
        read = {ast.unparse(a) for a in read_by(scope.module, launch)}
        found |= read & written
        if not read:
            continue  # it depends on nothing that has a gradient
        written |= {ast.unparse(a) for a, _ in written_by(scope.module, launch)}
    return found


def _losses(scope: HostScope) -> set[str]:
    found: set[str] = set()
    for node, _ in scope.own_calls("backward"):
        found |= {
            a.id for a in (*node.args, *(k.value for k in node.keywords if k.arg == "loss")) if isinstance(a, ast.Name)
        }
    return found
