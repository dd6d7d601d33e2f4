"""Tapes that are entered again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.host import HostScope, TapeBlock, host_scopes
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG310", "reused-tape"
FIX = "Make a new `wp.Tape()` in every turn, or call `tape.reset()` before the block."


def find(module: SourceModule) -> Iterator[Sighting]:
    """A tape made outside a loop and entered inside it without a reset: earlier launches are replayed as well."""
    for scope in host_scopes(module):
        for block in scope.blocks:
            if block.loops and not block.made_here and not _renewed(scope, block):
                yield Sighting(
                    block.node,
                    f"`{block.tape}` still holds the launches of earlier turns, and replays them in backward.",
                )


def _renewed(scope: HostScope, block: TapeBlock) -> bool:
    """Whether a loop around the block makes the tape or empties it, or leaves it for another function to do so."""
    loop = block.loops[0]
    for node in walk(loop):
        if isinstance(node, ast.Assign) and any(ast.unparse(t) == block.tape for t in node.targets):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reset":
            return True
    given = any(
        isinstance(a, ast.Name | ast.Attribute) and ast.unparse(a) == block.tape
        for n in walk(loop)
        if isinstance(n, ast.Call)
        for a in n.args
    )
    return given or ("." in block.tape and not any(True for _ in scope.calls(loop.body, "backward")))
