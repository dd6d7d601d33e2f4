"""Sums in half precision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG512", "half-precision-adjoint"
FIX = "Keep the array that is added to, and with it its gradient, in float32."


def find(module: SourceModule) -> Iterator[Sighting]:
    """Many threads that add to, or read from, one fixed element of a float16 array.

    Its gradient, or its value, is a sum in half precision, which stops growing at a few thousand terms.
    """
    for device in module.differentiated:
        if not any(module.names.called(n) == "tid" for n in device.nodes):
            continue  # one thread, or one that does not know which
        for node in device.nodes:
            base = _fixed_element(module, node)
            if base is not None and base in device.half:
                yield Sighting(
                    node,
                    f"Every thread uses this element of `{base}`: their sum, or that of its gradients, is in float16.",
                )


def _fixed_element(module: SourceModule, node: ast.AST) -> str | None:
    """The array of an element with constant indices that is read or added to."""
    if isinstance(node, ast.AugAssign):
        node = node.target
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return None
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
        return node.value.id
    if isinstance(node, ast.Call) and module.names.called(node) == "atomic_add" and len(node.args) == 3:
        array, index, _ = node.args
        return array.id if isinstance(array, ast.Name) and isinstance(index, ast.Constant) else None
    return None
