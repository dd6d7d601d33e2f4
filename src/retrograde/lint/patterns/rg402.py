"""Components of local vectors and matrices that are stored twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from retrograde.lint.device import DeviceFunction
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG402", "component-reassigned"
FIX = "Compute each component in a scalar of its own, and make the vector of them once."
_COMPONENTS = "xyzw"

Seen = dict[tuple[str, str], int]


def find(module: SourceModule) -> Iterator[Sighting]:
    """Components of a local vector, matrix or quaternion that are assigned again, or multiplied in place.

    A component may be assigned once on every way through the function, and added to in place any number of times.
    """
    if module.options.get("enable_vector_component_overwrites"):
        return
    for device in module.differentiated:
        yield from _body(device, device.node.body, {}, in_loop=False)


def _body(device: DeviceFunction, body: Sequence[ast.stmt], seen: Seen, in_loop: bool) -> Iterator[Sighting]:
    for node in body:
        if isinstance(node, ast.If):
            other = dict(seen)
            yield from _body(device, node.body, seen, in_loop)
            yield from _body(device, node.orelse, other, in_loop)
            seen.update(other)
        elif isinstance(node, ast.For | ast.While):
            yield from _body(device, node.body, seen, True)
        elif isinstance(node, ast.AugAssign):
            component = _component(device, node.target)
            if component is not None and isinstance(node.op, ast.Mult | ast.Div | ast.Mod | ast.Pow):
                yield Sighting(
                    node, f"`{ast.unparse(node)}` stores to a component again: the gradient of its earlier value stays."
                )
        elif isinstance(node, ast.Assign):
            _forget(node, seen)
            for target in node.targets:
                component = _component(device, target)
                if component is None:
                    continue
                if component in seen or (in_loop and _accumulates(node, target)):
                    yield Sighting(
                        node,
                        f"`{ast.unparse(target)}` is assigned again: the gradient of its earlier value is not cleared.",
                    )
                seen[component] = node.lineno


def _component(device: DeviceFunction, target: ast.expr) -> tuple[str, str] | None:
    """Variable and component of a store to a component of a local variable at an index that is written out."""
    if isinstance(target, ast.Attribute):
        base, index = target.value, target.attr if target.attr in tuple(_COMPONENTS) else None
        index = None if index is None else str(_COMPONENTS.index(index))
    elif isinstance(target, ast.Subscript):
        base, index = target.value, _constant_index(target.slice)
    else:
        return None
    if index is None or not isinstance(base, ast.Name) or base.id not in device.locals or base.id in device.sorts:
        return None
    return base.id, index


def _constant_index(node: ast.expr) -> str | None:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if all(isinstance(p, ast.Constant) and isinstance(p.value, int) for p in parts):
        return ast.unparse(node)
    return None


def _accumulates(node: ast.Assign, target: ast.expr) -> bool:
    """Whether a store in a loop reads the component that it stores to."""
    return any(
        isinstance(n, type(target)) and isinstance(n.ctx, ast.Load) and ast.unparse(n) == ast.unparse(target)
        for n in walk(node.value)
        if isinstance(n, ast.Subscript | ast.Attribute)
    )


def _forget(node: ast.Assign, seen: Seen) -> None:
    """A variable that is made anew may have its components assigned once more."""
    made = {t.id for t in node.targets if isinstance(t, ast.Name)}
    for key in [k for k in seen if k[0] in made]:
        del seen[key]
