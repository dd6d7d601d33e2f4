"""Walks through syntax trees, in the order of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, cast


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes below it; several times as fast as `ast.walk`."""
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


_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


def statements(module: ast.Module) -> Iterator[ast.stmt]:
    """All statements of a file, those of inner definitions and blocks too."""
    waiting: list[Any] = list(reversed(module.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        fields: dict[str, Any] = node.__dict__
        for name in reversed(_BLOCKS):
            block = fields.get(name)
            if isinstance(block, list):
                waiting.extend(reversed(cast("list[Any]", block)))
