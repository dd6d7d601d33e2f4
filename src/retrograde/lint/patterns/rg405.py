"""Custom adjoints that assign."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG405", "custom-adjoint-assigns"
FIX = "Add to the adjoint: `wp.adjoint[x] += ...`."


def find(module: SourceModule) -> Iterator[Sighting]:
    """`wp.adjoint[x] = ...`, which throws away what other uses of x have contributed."""
    for device in module.devices:
        for node in device.nodes:
            for target in node.targets if isinstance(node, ast.Assign) else ():
                base = target
                while isinstance(base, ast.Subscript) and module.names.resolve(base.value) != "adjoint":
                    base = base.value
                if isinstance(base, ast.Subscript):
                    yield Sighting(
                        node,
                        f"`{ast.unparse(target)} = ...` replaces the gradient that other uses have contributed.",
                    )
