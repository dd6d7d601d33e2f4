"""Indices drawn from an atomic counter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.device import DeviceFunction, Role
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG406", "replayed-side-effect"
FIX = (
    "Draw the index in a `wp.func` that stores it in an array, and give that function a `wp.func_replay` which reads "
    "it back."
)


def find(module: SourceModule) -> Iterator[Sighting]:
    """Values returned by atomic operations that become indices.

    The backward pass does not repeat the operation of a kernel, and repeats that of a function with the counter
    where it stands: the gradient goes to another element. A function with a `func_replay` is right.
    """
    replayed = {d.subject for d in module.devices if d.role is Role.REPLAY}
    drawing = {
        d.name
        for d in module.devices
        if d.role is Role.FUNCTION and d.name not in replayed and any(_draws(module, n, set()) for n in d.nodes)
    }
    for device in module.differentiated:
        if device.role is Role.FUNCTION and device.name in replayed:
            continue
        names = _drawn(module, device, drawing)
        for node in device.nodes:
            element = device.element(node)
            if element is None:
                continue
            used = next((n for i in element[1] for n in walk(i) if _is_drawn(module, n, names, drawing)), None)
            if used is not None:
                yield Sighting(
                    node,
                    f"The index of `{ast.unparse(node)}` comes from an atomic counter, which the backward pass does "
                    "not give the same values again.",
                )
                break


def _drawn(module: SourceModule, device: DeviceFunction, drawing: set[str]) -> set[str]:
    """Local variables that hold what a counter returned, or what was computed from it."""
    names: set[str] = set()
    for _ in range(2):
        for node in device.nodes:
            if isinstance(node, ast.Assign) and any(_is_drawn(module, n, names, drawing) for n in walk(node.value)):
                names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return names


def _is_drawn(module: SourceModule, node: ast.AST, names: set[str], drawing: set[str]) -> bool:
    return _draws(module, node, drawing) or (isinstance(node, ast.Name) and node.id in names)


def _draws(module: SourceModule, node: ast.AST, drawing: set[str]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in drawing:
        return True
    return module.names.called(node) in ("atomic_add", "atomic_sub")
