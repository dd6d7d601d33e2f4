"""Operations whose derivative is zero almost everywhere, and surrogates for them.

A surrogate has the operation's value and another derivative: that of the identity for rounding and signs
(straight-through; Y. Bengio, N. Leonard, A. Courville, 2013, arXiv:1308.3432), that of a logistic step for choices
between constants.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from retrograde.gradients.twins.functions import define
from retrograde.gradients.twins.rewrite import Edit, Rewrite
from retrograde.gradients.twins.source import FunctionSource, KernelSource, Role, number_of
from retrograde.gradients.twins.types import types_of
from retrograde.trace.warp_api import wp

_FLAT = frozenset({"round", "rint", "floor", "ceil", "trunc", "sign"})
_INTEGERS = frozenset({"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
_FLOATS = frozenset({"float", "float16", "float32", "float64"})
_CHOICES = {"where": (1, 2), "select": (2, 1)}
_KINDS = (wp.float16, wp.float32, wp.float64)


def find_flat(source: KernelSource) -> list[Rewrite]:
    """One rewrite for each flat operation on a floating number: its surrogate."""
    pieces = [p for p in source.all() if p.role in (Role.KERNEL, Role.FUNCTION)]
    sites = [(p, node, operand) for p in pieces for node, operand in _sites(p)]
    types = types_of(source, [(p, number_of(operand)) for p, _, operand in sites])
    found: list[Rewrite] = []
    for place, (piece, node, operand) in enumerate(sites):
        kinds = types[piece, number_of(operand)]
        if len(kinds) == 1 and kinds[0] in _KINDS:
            found.append(_surrogate(piece, node, operand, kinds[0], f"_surrogate_{place}"))
    return found


def _sites(piece: FunctionSource) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Flat operations, and the number that each is about."""
    for node in ast.walk(piece.tree):
        if not isinstance(node, ast.Call) or not node.args or node.keywords:
            continue
        name = piece.builtin(node) or getattr(node.func, "id", "")
        inner = node.args[0]
        if name in _FLAT:
            yield node, inner
        elif name in _FLOATS and isinstance(inner, ast.Call) and inner.args:
            if (piece.builtin(inner) or getattr(inner.func, "id", "")) in _INTEGERS:
                yield node, inner.args[0]
        elif (
            name in _CHOICES
            and isinstance(inner, ast.Compare)
            and _is_threshold(inner)
            and all(_is_number(piece, a) for a in node.args[1:])
        ):
            yield node, inner.left


def _is_threshold(node: ast.Compare) -> bool:
    return len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE)


def _is_number(piece: FunctionSource, node: ast.expr) -> bool:
    """Whether an expression is a constant, or a constant made a number of some type."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and (piece.builtin(node) or "float") in _FLOATS:
        node = node.args[0]
    return isinstance(piece.constant(node), int | float)


def _surrogate(piece: FunctionSource, node: ast.Call, operand: ast.expr, kind: Any, name: str) -> Rewrite:
    choice = isinstance(node.args[0], ast.Compare)
    function = _logistic(name, kind) if choice else _straight_through(name, kind)
    return Rewrite(
        code="RG501",
        source=piece,
        line=node.lineno,
        subject=ast.unparse(node),
        edits={number_of(node): _chosen(name) if choice else _through(name, operand is node.args[0])},
        advice="",
        scope={name: function},
        patch=False,
    )


def _through(name: str, direct: bool) -> Edit:
    """`round(x)` as `surrogate(x, round(x))`, and `float(int(x))` as `surrogate(x, float(int(x)))`."""

    def edit(node: ast.Call) -> ast.expr:
        inside: Any = node.args[0]
        return ast.Call(ast.Name(name, ast.Load()), [inside if direct else inside.args[0], node], [])

    return edit


def _chosen(name: str) -> Edit:
    """`where(a > b, c, d)` as `surrogate(a, b, c, d, where(a > b, c, d))`."""

    def edit(node: ast.Call) -> ast.expr:
        test: Any = node.args[0]
        name_of: Any = node.func
        holds, otherwise = _CHOICES[
            "select" if getattr(name_of, "attr", getattr(name_of, "id", "")) == "select" else "where"
        ]
        sides = [test.left, test.comparators[0]]
        if isinstance(test.ops[0], ast.Lt | ast.LtE):
            sides.reverse()
        return ast.Call(ast.Name(name, ast.Load()), [*sides, node.args[holds], node.args[otherwise], node], [])

    return edit


def _straight_through(name: str, kind: Any) -> Any:
    text = (
        f"def {name}(x, value):\n    return value\n\n\n"
        f"def adj_{name}(x, value, adj_ret):\n    _wp.adjoint[x] += adj_ret\n"
    )
    return define(name, text, {"x": kind, "value": kind}, kind)


def _logistic(name: str, kind: Any) -> Any:
    half = f"_wp.{kind.__name__}(0.5)"
    text = (
        f"def {name}(a, b, above, below, value):\n    return value\n\n\n"
        f"def adj_{name}(a, b, above, below, value, adj_ret):\n"
        f"    t = _wp.tanh((a - b) * {half})\n"
        f"    slope = (above - below) * ({half} * {half}) * (_wp.{kind.__name__}(1.0) - t * t)\n"
        f"    _wp.adjoint[a] += slope * adj_ret\n"
        f"    _wp.adjoint[b] -= slope * adj_ret\n"
    )
    return define(name, text, dict.fromkeys(("a", "b", "above", "below", "value"), kind), kind)
