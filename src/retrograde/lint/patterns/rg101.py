"""Arrays that a recording block writes after it has read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from retrograde.lint.device import walk_statements
from retrograde.lint.host import HostScope, host_scopes, read_by, written_by
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG101", "overwritten-input"
FIX = "Give every step an array of its own, and keep them all until backward has run."


def find(module: SourceModule) -> Iterator[Sighting]:
    """Recording blocks in which an array that a launch has read is written again: ping-pong buffers, in-place steps."""
    for scope in host_scopes(module):
        for block in scope.blocks:
            yield from _swaps(block.node.body)
            yield from _rewrites(scope, block.node.body)


def _swaps(body: Sequence[ast.stmt]) -> Iterator[Sighting]:
    """`a, b = b, a` inside a loop that records: both arrays are used again in the next turn."""
    for loop in walk_statements(list(body)):
        if not isinstance(loop, ast.For | ast.While):
            continue
        for node in walk_statements(loop.body):
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)):
                continue
            left, right = _texts(node.targets[0]), _texts(node.value)
            if left != right and sorted(left) == sorted(right):
                yield Sighting(
                    node,
                    f"{' and '.join(left)} change places while a tape records: the next step overwrites what the "
                    "step before it read, and backward reads it again.",
                )


def _texts(node: ast.expr) -> list[str]:
    """Names and attributes of a tuple, empty where it holds anything else."""
    parts = node.elts if isinstance(node, ast.Tuple) else []
    return [ast.unparse(p) for p in parts] if all(isinstance(p, ast.Name | ast.Attribute) for p in parts) else []


def _rewrites(scope: HostScope, body: Sequence[ast.stmt]) -> Iterator[Sighting]:
    """Arrays that are an input of one launch and written by a later one, or by a copy, in the same block."""
    names = scope.names
    read: dict[str, int] = {}
    told: set[str] = set()
    for node in (n for s in body for n in _calls_in_order(s)):
        for launch in scope.launches([ast.Expr(node)])[:1] if names.called(node) in ("launch", "launch_tiled") else ():
            for array, also_read in written_by(scope.module, launch):
                text = ast.unparse(array)
                if text in read and not also_read and text not in told and _is_fixed(array):
                    told.add(text)
                    yield Sighting(
                        launch.node,
                        f"`{text}`, which the launch in line {read[text]} has read, is written again on the same tape.",
                    )
            for array in read_by(scope.module, launch):
                read.setdefault(ast.unparse(array), launch.node.lineno)
        target = _written(names.called(node), node)
        text = ast.unparse(target) if target is not None else ""
        if target is not None and text in read and text not in told and _is_fixed(target):
            told.add(text)
            yield Sighting(
                node, f"`{text}`, which the launch in line {read[text]} has read, is written again on the same tape."
            )


def _calls_in_order(statement: ast.stmt) -> list[ast.Call]:
    calls = [n for n in walk(statement) if isinstance(n, ast.Call)]
    return sorted(calls, key=lambda n: (n.lineno, n.col_offset))


def _written(called: str | None, node: ast.Call) -> ast.expr | None:
    if called == "copy" and node.args:
        return node.args[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "assign":
        return node.func.value
    return None


def _is_fixed(node: ast.expr) -> bool:
    """Whether an expression surely names the same array each time: no index that may move on."""
    return all(isinstance(n, ast.Name | ast.Attribute | ast.Load) for n in walk(node))
