"""Loops that run backward and never clear."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.host import HostScope, host_scopes
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG301", "not-zeroed"
FIX = "Call `tape.zero()` once the gradient has been used, in every turn."

Loop = ast.For | ast.While


def find(module: SourceModule) -> Iterator[Sighting]:
    """Loops that call `backward` and in which nothing clears a gradient or makes the parameters anew."""
    for scope in host_scopes(module):
        tapes = scope.tapes | {b.tape for b in scope.blocks if b.tape}
        for loop in (s for s in scope.statements if isinstance(s, ast.For | ast.While)):
            for node, tape in scope.calls(loop.body, "backward"):
                inner = [s for s in scope.statements if isinstance(s, ast.For | ast.While) and _holds(s, node)]
                if ast.unparse(tape) in tapes and inner[-1:] == [loop] and not any(_clears(scope, s) for s in inner):
                    yield Sighting(
                        node,
                        "Gradients add up over the turns of this loop: backward adds to `.grad`, and nothing here "
                        "clears it.",
                    )


def _holds(loop: Loop, node: ast.AST) -> bool:
    return any(n is node for n in walk(loop))


def _clears(scope: HostScope, loop: Loop) -> bool:
    """Whether something in a loop may clear gradients, or leaves the loop after one turn."""
    for node in walk(loop):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if any(word in called.lower() for word in ("zero", "reset", "clear")) and not _allocates(scope, node):
                return True
            if any(k.arg == "requires_grad" for k in node.keywords):
                return True
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Attribute) and t.attr == "grad" for t in node.targets
        ):
            return True
        if isinstance(node, ast.Return):
            return True
    return False


def _allocates(scope: HostScope, node: ast.Call) -> bool:
    return scope.names.called(node) in ("zeros", "zeros_like")
