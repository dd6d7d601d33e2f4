"""Custom adjoints that leave an argument out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.device import Role, Sort
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG404", "custom-adjoint-value"
FIX = "Add to `wp.adjoint` of every argument that the function's value depends on."


def find(module: SourceModule) -> Iterator[Sighting]:
    """A `func_grad` that never adds to the adjoint of one of its function's arguments."""
    for device in module.devices:
        forward = module.named(device.subject) if device.role is Role.GRADIENT and device.subject else None
        if forward is None:
            continue
        given = {_adjoint_name(n, module) for n in device.nodes if isinstance(n, ast.Subscript)}
        if any(isinstance(n, ast.Call) and module.names.called(n) is None for n in device.nodes):
            continue  # another function may do it
        read = {n.id for s in forward.node.body for n in walk(s) if isinstance(n, ast.Name)}
        for argument in forward.node.args.args:
            sort = forward.sorts[argument.arg]
            if sort in (Sort.SCALAR, Sort.COMPOSITE) and argument.arg in read and argument.arg not in given:
                yield Sighting(device.node, f"{device.name} gives {argument.arg} of {forward.name} no gradient at all.")


def _adjoint_name(node: ast.Subscript, module: SourceModule) -> str | None:
    if module.names.resolve(node.value) != "adjoint":
        return None
    base = node.slice
    while isinstance(base, ast.Subscript | ast.Attribute):
        base = base.value
    return base.id if isinstance(base, ast.Name) else None
