"""Values that the adjoint of a loop needs and does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.carried import Carried, integer_constants
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG403", "dynamic-loop"
FIX = (
    "Give the loop a constant bound that Warp unrolls, or put it into a function that returns the plain sums and use "
    "them in the caller, or keep each partial result in an element of its own."
)


def find(module: SourceModule) -> Iterator[Sighting]:
    """Variables that a loop with a bound known at run time changes, and whose value the adjoint needs.

    Sums that are only stored, returned or added to others are right. A product, quotient, function, index or
    condition that uses such a variable is not: the adjoint sees it as it was before the loop.
    """
    constants = integer_constants(module.tree, module.names.called)
    for device in module.differentiated:
        for need in Carried(device, module.names, module.max_unroll, constants).find():
            where = "" if need.loop is need.node else f" in line {getattr(need.node, 'lineno', need.loop.lineno)}"
            yield Sighting(
                need.loop,
                f"The adjoint of `{_short(need.node)}`{where} needs {need.variable}, which this loop changes, "
                f"and sees it as it was before the loop.",
            )


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
