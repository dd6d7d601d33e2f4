"""Components of local vectors and matrices that are assigned more than once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retrograde.gradients.twins.rewrite import Edit, Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.gradients.twins.types import Node, types_of

_SWIZZLE = {"x": 0, "y": 1, "z": 2, "w": 3}


def find_reassigned(situation: Situation) -> list[Rewrite]:
    """One rewrite for each variable with such stores: every store makes a new value of the whole variable."""
    stores = {(p, number_of(s)): s for p in situation.source.all() for s in _stores(p)}
    types = types_of(situation.source, stores)
    found: list[Rewrite] = []
    for (piece, name), nodes in _by_variable(stores).items():
        kinds = {kind for node in nodes for kind in types[node]}
        if len(nodes) < 2 and not _may_repeat(piece, stores[nodes[0]]):
            continue
        if len(kinds) != 1 or not _is_composite(kind := kinds.pop()):
            continue
        repeated = _repeated(piece, [stores[n] for n in nodes])
        found.append(
            Rewrite(
                code="RG402",
                source=piece,
                line=repeated.lineno,
                subject=f"{ast.unparse(repeated)} stores to a component of {name} again",
                edits={number: _rebuilt(kind) for _, number in nodes},
                advice=f"Compute each component in a scalar of its own, and make {name} of them once.",
                scope={_constructor(kind): kind},
            )
        )
    return found


def _repeated(piece: FunctionSource, stores: Sequence[ast.stmt]) -> ast.stmt:
    """The first store to a component that may have been stored to before, else the last one."""
    seen: set[str] = set()
    for store in stores:
        if _target(store) in seen or _may_repeat(piece, store):
            return store
        seen.add(_target(store))
    return stores[-1]


def _may_repeat(piece: FunctionSource, store: ast.stmt) -> bool:
    """Whether one store may store again: it changes what is there, or lies in a loop."""
    loops = (n for n in ast.walk(piece.tree) if isinstance(n, ast.For | ast.While))
    return isinstance(store, ast.AugAssign) or any(inner is store for loop in loops for inner in ast.walk(loop))


def _stores(piece: FunctionSource) -> Iterator[ast.Assign | ast.AugAssign]:
    """Stores to a component of a local variable."""
    arguments = {a.arg for a in piece.tree.args.args}
    for node in ast.walk(piece.tree):
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        base: Any = target.value if isinstance(target, ast.Subscript | ast.Attribute) else None
        if isinstance(target, ast.Attribute) and target.attr not in _SWIZZLE:
            continue
        if (
            isinstance(base, ast.Name)
            and base.id in piece.locals
            and not (base.id in arguments and piece.role.name == "KERNEL")
        ):
            yield node


def _by_variable(stores: Mapping[Node, ast.stmt]) -> dict[tuple[FunctionSource, str], list[Node]]:
    found: dict[tuple[FunctionSource, str], list[Node]] = {}
    for (piece, number), node in stores.items():
        found.setdefault((piece, _variable(node)), []).append((piece, number))
    return {k: sorted(v, key=lambda n: stores[n].lineno) for k, v in found.items()}


def _target_of(node: Any) -> Any:
    return node.targets[0] if isinstance(node, ast.Assign) else node.target


def _target(node: Any) -> str:
    return ast.unparse(_target_of(node))


def _variable(node: Any) -> str:
    return str(_target_of(node).value.id)


def _is_composite(kind: Any) -> bool:
    return isinstance(getattr(kind, "_shape_", None), tuple) and len(kind._shape_) in (1, 2)


def _constructor(kind: Any) -> str:
    return f"_{kind.__name__}"


def _rebuilt(kind: Any) -> Edit:
    """`v[1] = e` as `v = vec3(v[0], e, v[2])`."""
    shape: tuple[int, ...] = kind._shape_
    places = [(i,) for i in range(shape[0])] if len(shape) == 1 else [
        (i, j) for i in range(shape[0]) for j in range(shape[1])
    ]  # fmt: skip

    def edit(node: Any) -> Any:
        target = _target_of(node)
        name = str(target.value.id)
        value = node.value
        if isinstance(node, ast.AugAssign):
            value = ast.BinOp(_load(target), node.op, node.value)
        index = _index(target)
        if len(index) != len(shape):
            return node
        parts = [_part(name, place, index, value) for place in places]
        made = ast.Call(ast.Name(_constructor(kind), ast.Load()), parts, [])
        return ast.Assign([ast.Name(name, ast.Store())], made)

    return edit


def _index(target: ast.expr) -> tuple[ast.expr, ...]:
    if isinstance(target, ast.Attribute):
        return (ast.Constant(_SWIZZLE[target.attr]),)
    assert isinstance(target, ast.Subscript)
    return tuple(target.slice.elts) if isinstance(target.slice, ast.Tuple) else (target.slice,)


def _part(name: str, place: tuple[int, ...], index: tuple[ast.expr, ...], value: ast.expr) -> ast.expr:
    """A component after the store: the value where it is the one stored to, else what it was."""
    others = [(i, p) for i, p in zip(index, place, strict=True) if not isinstance(i, ast.Constant) or i.value != p]
    if any(isinstance(i, ast.Constant) for i, _ in others):
        return _component(name, place)
    for i, p in others:
        test = ast.Compare(i, [ast.Eq()], [ast.Constant(p)])
        value = ast.IfExp(test, value, _component(name, place))
    return value


def _component(name: str, place: tuple[int, ...]) -> ast.expr:
    index = ast.Constant(place[0]) if len(place) == 1 else ast.Tuple([ast.Constant(p) for p in place], ast.Load())
    return ast.Subscript(ast.Name(name, ast.Load()), index, ast.Load())


def _load(target: Any) -> ast.expr:
    text = ast.unparse(target)
    return ast.parse(text, mode="eval").body
