"""What the names of a source file mean in Warp, by its imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_INNER = ("_src", "types", "context", "builtins", "tape", "codegen", "utils")
"""Modules of Warp whose contents are also found at its top."""


@dataclass(frozen=True)
class WarpNames:
    """Names bound to Warp, to its modules and to what they hold.

    Attributes:
        bound: Dotted path within Warp by name; "" is Warp itself.
    """

    bound: Mapping[str, str]

    def resolve(self, node: ast.AST | None) -> str | None:
        """Dotted path within Warp of a name or an attribute, "launch" or "fem.integrand"; None for anything else."""
        if isinstance(node, ast.Name):
            return self.bound.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            return None if base is None else _join(base, node.attr)
        return None

    def called(self, node: ast.AST | None) -> str | None:
        """What a call calls; None where it is no call of Warp's."""
        return self.resolve(node.func) if isinstance(node, ast.Call) else None


def warp_names(nodes: Iterable[ast.AST]) -> WarpNames:
    """Names that any import of a file binds to Warp."""
    bound: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                path = _within_warp(alias.name)
                if path is not None:
                    bound[alias.asname or "warp"] = path if alias.asname else ""
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            base = _within_warp(node.module)
            if base is not None:
                bound.update({a.asname or a.name: _join(base, a.name) for a in node.names if a.name != "*"})
    return WarpNames(bound)


def _within_warp(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "warp":
        return None
    path = ""
    for part in parts[1:]:
        path = _join(path, part)
    return path


def _join(base: str, name: str) -> str:
    if base in _INNER or base.startswith("_src."):
        base = ""
    return f"{base}.{name}" if base else name
