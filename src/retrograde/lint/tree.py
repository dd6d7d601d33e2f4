"""A walk through syntax trees, several times as fast as `ast.walk`, in the order of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, cast


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        fields: dict[str, Any] = node.__dict__
        for name in reversed(node._fields):
            value = fields.get(name)
            if isinstance(value, list):
                parts = cast("list[Any]", value)
                waiting.extend(v for v in reversed(parts) if isinstance(v, ast.AST))
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                waiting.append(value)
