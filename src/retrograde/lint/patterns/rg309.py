"""Buffers that a recording block clears for their next use."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.host import HostScope, TapeBlock, host_scopes
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG309", "unrecorded-clear"
FIX = "Use a fresh buffer each time, or clear it with a kernel."


def find(module: SourceModule) -> Iterator[Sighting]:
    """`zero_()` and `fill_()` in a recording block on an array that its launches use before and after."""
    for scope in host_scopes(module):
        for block in scope.blocks:
            yield from _clears(scope, block)


def _clears(scope: HostScope, block: TapeBlock) -> Iterator[Sighting]:
    loops = [n for n in walk(block.node) if isinstance(n, ast.For | ast.While)]
    for node, array in scope.calls(block.node.body, "zero_", "fill_"):
        text = ast.unparse(array)
        if isinstance(array, ast.Attribute) and array.attr == "grad":
            continue
        around = [loop for loop in loops if any(n is node for n in walk(loop))]
        uses = [
            launch.node.lineno
            for launch in scope.launches(block.node.body)
            if text in {ast.unparse(a) for a in (*launch.inputs, *launch.outputs)}
        ]
        again = bool(around) and any(loop.lineno <= use <= (loop.end_lineno or use) for loop in around for use in uses)
        if again or (uses and min(uses) < node.lineno < max(uses)):
            yield Sighting(
                node,
                f"The tape does not record that `{text}` is cleared: the gradient of its later use flows into its "
                "earlier one.",
            )
