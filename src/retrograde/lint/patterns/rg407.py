"""Native snippets without an adjoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.device import Role, Sort
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG407", "native-without-adjoint"
FIX = "Give `wp.func_native` an `adj_snippet`, or write the function in Python."
_NUMBERS = (Sort.ARRAY, Sort.SCALAR, Sort.COMPOSITE)


def find(module: SourceModule) -> Iterator[Sighting]:
    """`@wp.func_native` of a snippet alone, on arguments that can carry a gradient."""
    for device in module.devices:
        if device.role is not Role.NATIVE or not isinstance(device.decorator, ast.Call):
            continue
        names = {k.arg for k in device.decorator.keywords}
        if len(device.decorator.args) < 2 and "adj_snippet" not in names and _carries(device.sorts.values()):
            yield Sighting(device.node, f"The native function {device.name} has no adjoint: no gradient passes it.")


def _carries(sorts: object) -> bool:
    return any(sort in _NUMBERS for sort in sorts)  # type: ignore[attr-defined]
