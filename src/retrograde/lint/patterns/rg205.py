"""Work that a tape does not record although it runs inside its block."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.host import host_scopes
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG205", "unrecorded-operation"
FIX = "Call `wp.launch` itself inside the block."


def find(module: SourceModule) -> Iterator[Sighting]:
    """Recorded `Launch` objects and captured graphs that run inside a recording block: neither is taped."""
    commands = {
        ast.unparse(t)
        for n in (module.nodes if "record_cmd" in module.text else ())
        if isinstance(n, ast.Assign)
        and isinstance(n.value, ast.Call)
        and module.names.called(n.value) in ("launch", "launch_tiled")
        and any(k.arg == "record_cmd" and getattr(k.value, "value", None) is True for k in n.value.keywords)
        for t in n.targets
    }
    for scope in host_scopes(module):
        for block in scope.blocks:
            for node, command in scope.calls(block.node.body, "launch"):
                if ast.unparse(command) in commands:
                    yield Sighting(
                        node, f"`{ast.unparse(node.func)}()` runs a recorded launch, which the tape does not see."
                    )
            for statement in block.node.body:
                for node in walk(statement):
                    if scope.names.called(node) == "capture_launch":
                        yield Sighting(node, "A captured graph runs its launches without the tape.")
