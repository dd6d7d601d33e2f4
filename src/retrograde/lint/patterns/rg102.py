"""Elements that a kernel replaces by a function of themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from retrograde.lint.device import DeviceFunction
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG102", "overwritten-in-kernel"
FIX = "Write the new values to another array."
_LINEAR = (ast.Add, ast.Sub)


def find(module: SourceModule) -> Iterator[Sighting]:
    """`x[i] = f(x[i])` with an f whose derivative needs the old value, or under a condition that looks at it.

    The backward pass reads the element again, and finds what the kernel left there. Adding to an element is right.
    """
    for device in module.differentiated:
        yield from _body(module, device, device.node.body, {}, [])


def _body(
    module: SourceModule,
    device: DeviceFunction,
    body: Sequence[ast.stmt],
    loaded: dict[str, str],
    tests: list[set[str]],
) -> Iterator[Sighting]:
    """Follow which local variables hold plain copies of elements, and which conditions look at which elements."""
    for node in body:
        if isinstance(node, ast.If):
            looked_at = _elements(device, node.test, loaded)
            for part in (node.body, node.orelse):
                yield from _body(module, device, part, dict(loaded), [*tests, looked_at])
        elif isinstance(node, ast.For | ast.While):
            yield from _body(module, device, node.body, loaded, tests)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                source = ast.unparse(node.value) if device.element(node.value) else None
                loaded.pop(target.id, None)
                if source is not None:
                    loaded[target.id] = source
            elif device.element(target):
                text = ast.unparse(target)
                needed = _needed(module, device, node.value, loaded)
                if text in needed or any(text in test for test in tests):
                    yield Sighting(
                        node,
                        f"`{text}` is replaced after the kernel has read it: the backward pass reads the new value "
                        "where the old one was used.",
                    )


def _elements(device: DeviceFunction, node: ast.AST, loaded: dict[str, str]) -> set[str]:
    """Elements of arrays that an expression reads, directly or through a local copy."""
    found = {ast.unparse(n) for n in walk(node) if device.element(n)}
    return found | {loaded[n.id] for n in walk(node) if isinstance(n, ast.Name) and n.id in loaded}


def _needed(module: SourceModule, device: DeviceFunction, node: ast.expr, loaded: dict[str, str]) -> set[str]:
    """Elements whose value the derivative of an expression needs."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _LINEAR):
        return _needed(module, device, node.left, loaded) | _needed(module, device, node.right, loaded)
    if isinstance(node, ast.UnaryOp):
        return _needed(module, device, node.operand, loaded)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        found = [_elements(device, side, loaded) for side in sides]
        if isinstance(node.op, ast.Mult | ast.MatMult) or (isinstance(node.op, ast.Div) and not found[1]):
            if all(_is_active(device, side, loaded) for side in sides):
                return found[0] | found[1]
            return _needed(module, device, node.left, loaded) | _needed(module, device, node.right, loaded)
        return found[0] | found[1]
    if isinstance(node, ast.Call) and module.names.called(node) is not None:
        name = str(module.names.called(node))
        if name.startswith(("vec", "mat", "quat", "transform", "spatial_", "float")) or name in ("tid", "neg"):
            return {e for a in node.args for e in _needed(module, device, a, loaded)}
        return _elements(device, node, loaded)
    if isinstance(node, ast.IfExp):
        chosen = _needed(module, device, node.body, loaded) | _needed(module, device, node.orelse, loaded)
        return chosen | _elements(device, node.test, loaded)
    return set()


def _is_active(device: DeviceFunction, node: ast.expr, loaded: dict[str, str]) -> bool:
    """Whether a gradient may flow through an operand: it reads an element, or a local variable."""
    if _elements(device, node, loaded):
        return True
    return any(isinstance(n, ast.Name) and n.id in device.locals for n in walk(node))
