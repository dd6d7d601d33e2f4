"""Values that leave for the host while a tape records, and come back."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from retrograde.lint.device import walk_statements
from retrograde.lint.host import HostScope, host_scopes
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG204", "through-host"
FIX = "Compute it in a kernel, so that the tape sees it."
_MAKERS = ("array", "from_numpy", "launch", "launch_tiled", "full")


def find(module: SourceModule) -> Iterator[Sighting]:
    """`.numpy()` inside a recording block whose result goes back into an array or a launch: a constant to the tape."""
    for scope in host_scopes(module):
        for block in scope.blocks:
            yield from _returns(scope, block.node.body)


def _returns(scope: HostScope, body: Sequence[ast.stmt]) -> Iterator[Sighting]:
    host: set[str] = set()
    for statement in walk_statements(list(body)):
        if isinstance(statement, ast.For | ast.While | ast.If | ast.With | ast.Try):
            continue
        for node in walk(statement):
            if isinstance(node, ast.Call) and _takes(scope, node) and any(_is_host(a, host) for a in _given(node)):
                yield Sighting(node, "A value that went through NumPy comes back: the tape takes it for a constant.")
                break
        if isinstance(statement, ast.Assign):
            names = {t.id for t in statement.targets if isinstance(t, ast.Name)}
            host = (
                host | names if _is_host(statement.value, host) and not _makes(scope, statement.value) else host - names
            )


def _takes(scope: HostScope, node: ast.Call) -> bool:
    if scope.names.called(node) in _MAKERS:
        return True
    return isinstance(node.func, ast.Attribute) and node.func.attr == "assign"


def _makes(scope: HostScope, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and scope.names.called(node) is not None


def _given(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(k.value for k in node.keywords if k.arg not in ("dim", "device"))]


def _is_host(node: ast.expr, host: set[str]) -> bool:
    """Whether an expression holds what `.numpy()` of an array's contents gave."""
    for inner in walk(node):
        if isinstance(inner, ast.Name) and inner.id in host:
            return True
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "numpy":
            return True
    return False
