"""Lengths computed by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG409", "singular-point"
FIX = "Use `wp.length`, whose adjoint is finite at zero, or add a small constant under the root."


def find(module: SourceModule) -> Iterator[Sighting]:
    """Roots of sums of squares, `wp.sqrt(wp.dot(v, v))`, `wp.sqrt(x * x + y * y)`: an infinite slope at zero."""
    for device in module.differentiated:
        for node in device.nodes:
            if not (isinstance(node, ast.Call) and module.names.called(node) == "sqrt" and len(node.args) == 1):
                continue
            if _is_sum_of_squares(node.args[0], module):
                yield Sighting(node, f"The derivative of `{ast.unparse(node)}` is infinite where its argument is zero.")


def _is_sum_of_squares(node: ast.expr, module: SourceModule) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_sum_of_squares(node.left, module) and _is_sum_of_squares(node.right, module)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return ast.unparse(node.left) == ast.unparse(node.right)
    if isinstance(node, ast.Call):
        name = module.names.called(node)
        same = len(node.args) == 2 and ast.unparse(node.args[0]) == ast.unparse(node.args[1])
        return name == "length_sq" or (name == "dot" and same)
    return False
