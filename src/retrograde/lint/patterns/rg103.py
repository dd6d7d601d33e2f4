"""Arrays that change between the end of a recording and its backward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.host import HostScope, TapeBlock, host_scopes, written_by
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG103", "overwritten-after-tape"
FIX = "Move the write behind backward, or write to another array."


def find(module: SourceModule) -> Iterator[Sighting]:
    """Writes to an array of the block between its end and `backward`: clears, assignments, copies, launches."""
    for scope in host_scopes(module):
        for block in scope.blocks:
            yield from _after(scope, block)


def _after(scope: HostScope, block: TapeBlock) -> Iterator[Sighting]:
    if not any(_runs_backward(s) for s in block.siblings):
        return
    used = {ast.unparse(a) for launch in scope.launches(block.node.body) for a in (*launch.inputs, *launch.outputs)}
    for statement in block.siblings:
        if _runs_backward(statement):
            return
        for node, array in scope.calls([statement], "zero_", "fill_", "assign"):
            if ast.unparse(array) in used:
                yield Sighting(node, _message(array))
        for node in walk(statement):
            copied = node.args[0] if isinstance(node, ast.Call) and scope.names.called(node) == "copy" else None
            if copied is not None and ast.unparse(copied) in used:
                yield Sighting(node, _message(copied))
        for launch in scope.launches([statement]):
            for array, _ in written_by(scope.module, launch):
                if ast.unparse(array) in used:
                    yield Sighting(launch.node, _message(array))


def _runs_backward(statement: ast.stmt) -> bool:
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "backward"
        for n in walk(statement)
    )


def _message(array: ast.expr) -> str:
    return f"`{ast.unparse(array)}` was used on the tape, and changes before backward reads it again."
