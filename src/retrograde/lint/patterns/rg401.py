"""Products in place on array elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG401", "in-place-multiply"
FIX = "Write the product to another array, or to a local variable first and to another element."
_SIGNS: dict[type[ast.operator], str] = {ast.Mult: "*=", ast.Div: "/="}


def find(module: SourceModule) -> Iterator[Sighting]:
    """Multiplications and divisions in place, `x[i] *= a`, on elements of arrays that can carry a gradient."""
    for device in module.differentiated:
        for node in device.nodes:
            if isinstance(node, ast.AugAssign) and type(node.op) in _SIGNS and device.element(node.target):
                yield Sighting(
                    node,
                    f"`{ast.unparse(node.target)} {_SIGNS[type(node.op)]} ...` has no adjoint in Warp: "
                    "the gradient passes as if nothing had been multiplied.",
                )
