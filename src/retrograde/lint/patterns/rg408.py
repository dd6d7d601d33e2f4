"""Selections that guard an operation which they cannot guard."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.device import DeviceFunction
from retrograde.lint.module import SourceModule
from retrograde.lint.patterns.singular import names_in, singular_arguments
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG408", "unselected-branch"
FIX = "Choose by a real branch (if and else, or a conditional expression), or make the argument safe before it is used."


def find(module: SourceModule) -> Iterator[Sighting]:
    """`wp.where` whose condition looks at the argument of a root, a logarithm or a quotient in an operand.

    Both operands are evaluated and both are differentiated: an infinite derivative times zero is NaN.
    """
    for device in module.differentiated:
        made = _made(device)
        for node in device.nodes:
            if not (isinstance(node, ast.Call) and module.names.called(node) in ("where", "select")):
                continue
            if len(node.args) != 3:
                continue
            condition, *operands = node.args
            watched = {n for n in names_in(condition, module.names) if n not in device.structs}
            found = next((s for o in operands for s in _guarded(o, watched, made, module)), None)
            if found is not None:
                yield Sighting(
                    node,
                    f"wp.{module.names.called(node)} differentiates both operands: where `{ast.unparse(condition)}` "
                    f"keeps `{ast.unparse(found)}` from being chosen, its infinite derivative still makes NaN.",
                )


def _guarded(
    operand: ast.expr, watched: set[str], made: dict[str, ast.expr], module: SourceModule
) -> Iterator[ast.expr]:
    """Singular operations in an operand, or in what it was assigned from, on what the condition watches."""
    origins = [operand, *(made[n] for n in sorted(names_in(operand, module.names)) if n in made)]
    for origin in origins:
        for operation, argument in singular_arguments(origin, module.names):
            if names_in(argument, module.names) & watched and not _is_safe(argument, module):
                yield operation


def _is_safe(argument: ast.expr, module: SourceModule) -> bool:
    """Whether something is added to the argument, or it is kept from zero."""
    if isinstance(argument, ast.Call) and module.names.called(argument) in ("max", "clamp", "exp", "cosh"):
        return True
    return isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Add)


def _made(device: DeviceFunction) -> dict[str, ast.expr]:
    """Local variables that are assigned once, outside loops and branches, and from what."""
    found: dict[str, ast.expr] = {}
    several: set[str] = set()
    for node in device.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            several |= {name} & found.keys()
            found[name] = node.value
    plain = {id(s) for s in device.node.body}
    outer = {
        n.targets[0].id for n in device.nodes
        if isinstance(n, ast.Assign) and id(n) in plain and isinstance(n.targets[0], ast.Name)
    }  # fmt: skip
    return {n: v for n, v in found.items() if n in outer and n not in several}
