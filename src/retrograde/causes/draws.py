"""Decisions of a kernel that a random draw makes together with computed values: accept or reject."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.gradients.ladder import Case
from retrograde.gradients.twins.source import FunctionSource, read_kernel
from retrograde.trace.callsite import CallSite

_DRAWS = ("randf", "randn", "randi", "randu", "poisson")


def decided_by_draws(case: Case) -> Iterator[tuple[CallSite, int, str]]:
    """Such decisions in the kernels that ran: the line, the launch and the condition, each once."""
    seen: set[int] = set()
    for operation in case.window.launches:
        call = operation.launch
        if call is None or not call.random or id(call.kernel) in seen:
            continue
        seen.add(id(call.kernel))
        try:
            source = read_kernel(call.kernel)
        except Exception:  # its source cannot be read
            continue
        for piece in source.all():
            for test in _decisions(piece):
                yield CallSite(piece.file, test.lineno, piece.name), operation.index, ast.unparse(test)


def _decisions(piece: FunctionSource) -> Iterator[ast.expr]:
    drawn, computed = _followed(piece)
    for node in ast.walk(piece.tree):
        test = node.test if isinstance(node, ast.If | ast.IfExp) else None
        if isinstance(node, ast.Call) and piece.builtin(node) == "where" and len(node.args) == 3:
            test = node.args[0]
        if (
            test is not None
            and _is_from(piece, test, drawn, draws=True)
            and _is_from(piece, test, computed, draws=False)
        ):
            yield test


def _followed(piece: FunctionSource) -> tuple[set[str], set[str]]:
    """Local variables that hold what was drawn, and those that hold what was read from arrays."""
    drawn: set[str] = set()
    computed: set[str] = set()
    assigned = [n for n in ast.walk(piece.tree) if isinstance(n, ast.Assign | ast.AugAssign)]
    for node in sorted(assigned, key=lambda n: n.lineno):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {t.id for t in targets if isinstance(t, ast.Name)}
        if _is_from(piece, node.value, drawn, draws=True):
            drawn |= names
        if _is_from(piece, node.value, computed, draws=False):
            computed |= names
    return drawn, computed


def _is_from(piece: FunctionSource, node: ast.expr, names: set[str], *, draws: bool) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in names:
            return True
        if draws and isinstance(inner, ast.Call) and piece.builtin(inner) in _DRAWS:
            return True
        if not draws and isinstance(inner, ast.Subscript):
            return True
    return False
