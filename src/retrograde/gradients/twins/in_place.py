"""Products in place on array elements that the same kernel has written or read before."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from retrograde.gradients.twins.rewrite import Edit, Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.trace.warp_api import wp


def find_in_place(situation: Situation) -> list[Rewrite]:
    """One rewrite for each element that is multiplied or divided in place: its value is kept in a local variable."""
    return [r for piece in situation.source.all() for r in _products(piece)]


def _products(piece: FunctionSource) -> Iterator[Rewrite]:
    seen: set[str] = set()
    products = [n for n in ast.walk(piece.tree) if isinstance(n, ast.AugAssign) and not _adds(n)]
    for node in sorted(products, key=lambda n: n.lineno):
        target = ast.unparse(node.target)
        if isinstance(node.target, ast.Subscript) and _is_element(piece, node.target) and target not in seen:
            seen.add(target)
            yield Rewrite(
                code="RG401",
                source=piece,
                line=node.lineno,
                subject=f"{ast.unparse(node)} multiplies or divides an array element in place",
                edits=_kept_in(f"value_{node.lineno}", piece, target),
                advice=f"Compute in a local variable, and store to {target} once.",
            )


def _adds(node: ast.AugAssign) -> bool:
    return isinstance(node.op, ast.Add | ast.Sub)


def _is_element(piece: FunctionSource, node: ast.expr) -> bool:
    """Whether an expression is an element of an array argument, or of an array field of a struct."""
    fields: list[str] = []
    while isinstance(node, ast.Subscript | ast.Attribute):
        if isinstance(node, ast.Attribute):
            fields.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    kind: Any = piece.types.get(node.id)
    for name in fields:
        variables: Any = getattr(kind, "vars", {})
        kind = variables[name].type if name in variables else kind
    return bool(wp.types.is_array(kind))


def _kept_in(name: str, piece: FunctionSource, target: str) -> dict[int, Edit]:
    """Edits that put a local variable in place of an element, and store it wherever the element was stored to."""
    edits: dict[int, Edit] = {}
    for node in ast.walk(piece.tree):
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == [target]:
            edits[number_of(node)] = _stored(name)
        elif isinstance(node, ast.AugAssign) and ast.unparse(node.target) == target:
            edits[number_of(node)] = _changed(name)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and ast.unparse(node) == target:
            edits[number_of(node)] = lambda _: ast.Name(name, ast.Load())
    first = _first(piece.tree.body, target)
    assert first is not None
    known = edits.get(number_of(first))
    edits[number_of(first)] = _begun(name, target, known)
    return edits


def _stored(name: str) -> Edit:
    def edit(node: ast.Assign) -> list[ast.stmt]:
        kept = ast.Assign([ast.Name(name, ast.Store())], node.value)
        return [kept, ast.Assign(node.targets, ast.Name(name, ast.Load()))]

    return edit


def _changed(name: str) -> Edit:
    def edit(node: ast.AugAssign) -> list[ast.stmt]:
        value = ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value)
        kept = ast.Assign([ast.Name(name, ast.Store())], value)
        return [kept, ast.Assign([node.target], ast.Name(name, ast.Load()))]

    return edit


def _begun(name: str, target: str, known: Edit | None) -> Edit:
    def edit(node: ast.stmt) -> list[ast.stmt]:
        rest = [node] if known is None else known(node)
        return [*ast.parse(f"{name} = {target}").body, *rest]

    return edit


def _first(body: Sequence[ast.stmt], target: str) -> ast.stmt | None:
    """The first statement about an element, in the innermost block that holds all of them."""
    about = [s for s in body if any(isinstance(n, ast.Subscript) and ast.unparse(n) == target for n in ast.walk(s))]
    if not about:
        return None
    if len(about) == 1:
        blocks: list[list[ast.stmt]] = [getattr(about[0], field, []) for field in ("body", "orelse")]
        inner = [_first(block, target) for block in blocks]
        found = [s for s in inner if s is not None]
        if len(found) == 1:
            return found[0]
    return about[0]
