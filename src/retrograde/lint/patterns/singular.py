"""Operations whose derivative is not finite somewhere, and what keeps their argument away from there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.names import WarpNames
from retrograde.lint.tree import walk

_FUNCTIONS = ("sqrt", "log", "log2", "log10", "acos", "asin", "normalize", "cbrt")


def singular_arguments(node: ast.AST, names: WarpNames) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Every such operation below a node with the argument that decides: a root, a logarithm, a quotient."""
    for inner in walk(node):
        if isinstance(inner, ast.Call) and inner.args and names.called(inner) in _FUNCTIONS:
            yield inner, inner.args[0]
        elif isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div) and names_in(inner.right, names):
            yield inner, inner.right


def names_in(node: ast.AST, names: WarpNames) -> set[str]:
    """Variables that an expression reads, elements and fields by their text."""
    inner = list(walk(node))
    found = {n.id for n in inner if isinstance(n, ast.Name) and names.resolve(n) is None}
    places = [n for n in inner if isinstance(n, ast.Subscript | ast.Attribute) and names.resolve(n) is None]
    return found | {ast.unparse(n) for n in places}
