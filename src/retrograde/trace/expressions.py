"""The number a program reports of an array it read: `float(r.numpy().mean())`.

A host read is one call inside a larger expression. The largest scalar expression around it, made only
of arithmetic and NumPy reductions, is what the program reports of the array; it can be evaluated again
on other contents.
"""

from __future__ import annotations

import ast
import copy
import linecache
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any

import numpy as np

_REDUCTIONS = frozenset({"mean", "sum", "average", "nanmean", "nansum", "dot", "vdot", "norm"})
_SHAPING = frozenset(
    {"item", "ravel", "flatten", "reshape", "astype", "copy", "squeeze", "tolist", "abs", "square", "sqrt",
     "float", "asarray", "array", "float64", "float32", "power"}
)  # fmt: skip
_ALLOWED = _REDUCTIONS | _SHAPING
_PLACEHOLDER = "__retrograde_read__"


@dataclass(frozen=True, eq=False)
class HostExpression:
    """A scalar expression of one host read.

    Attributes:
        source: The expression as the user wrote it.
        template: The same with the read replaced by a placeholder.
        reduction: Name of the reduction in it.
    """

    source: str
    template: str
    reduction: str


def reported_expression(frame: FrameType, offset: int | None = None) -> HostExpression | None:
    """The scalar reduction around the host read that a frame is executing, None where there is none."""
    position = _position(frame, offset)
    if position is None:
        return None
    return _expression_at(frame.f_code.co_filename, *position)


def _position(frame: FrameType, offset: int | None) -> tuple[int, int, int, int] | None:
    instruction = (frame.f_lasti if offset is None else offset) // 2
    for number, position in enumerate(frame.f_code.co_positions()):
        if number == instruction:
            line, end, column, end_column = position
            if line is None or end is None or column is None or end_column is None:
                return None
            return line, end, column, end_column
    return None


@lru_cache(maxsize=512)
def _expression_at(file: str, line: int, end: int, column: int, end_column: int) -> HostExpression | None:
    tree = _parse(file)
    if tree is None:
        return None
    chain = _ancestors(tree, (line, end, column, end_column))
    if not chain:
        return None
    read = chain[-1]
    best: ast.expr | None = None
    reduction = ""
    for node in reversed(chain[:-1]):
        if not isinstance(node, ast.expr) or not _pure(node, read):
            break
        found = next((n for n in _called(node) if n in _REDUCTIONS), "")
        if found:
            best, reduction = node, found
    if best is None:
        best, read, reduction = _through_name(tree, chain, read)
    if best is None:
        return None
    return HostExpression(ast.unparse(best), _template(best, read), reduction)


@lru_cache(maxsize=64)
def _parse(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None


def _ancestors(tree: ast.AST, position: tuple[int, int, int, int]) -> list[ast.AST]:
    """Nodes from the module down to the call at a position."""
    chain: list[ast.AST] = []

    def descend(node: ast.AST) -> bool:
        chain.append(node)
        here = (
            getattr(node, "lineno", None),
            getattr(node, "end_lineno", None),
            getattr(node, "col_offset", None),
            getattr(node, "end_col_offset", None),
        )
        if isinstance(node, ast.Call) and here == position:
            return True
        for child in ast.iter_child_nodes(node):
            if descend(child):
                return True
        chain.pop()
        return False

    descend(tree)
    return chain


def _through_name(tree: ast.AST, chain: list[ast.AST], read: ast.AST) -> tuple[ast.expr | None, ast.AST, str]:
    """Follow `values = r.numpy()` to the first reduction of `values` after it."""
    statement = next((n for n in reversed(chain) if isinstance(n, ast.Assign)), None)
    if statement is None or statement.value is not read or len(statement.targets) != 1:
        return None, read, ""
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None, read, ""
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or getattr(node, "lineno", 0) <= statement.lineno:
            continue
        found = next((n for n in _called(node) if n in _REDUCTIONS), "")
        uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == target.id]
        if found and len(uses) == 1 and _pure(node, uses[0]):
            return node, uses[0], found
    return None, read, ""


def _called(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Call):
            function = child.func
            yield function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _pure(node: ast.expr, read: ast.AST) -> bool:
    """Whether an expression consists of the read, arithmetic, constants, names and known reductions."""
    if node is read:
        return True
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in _ALLOWED:
            return False
        inner = [function.value] if isinstance(function, ast.Attribute) else []
        return all(_pure(n, read) for n in (*inner, *node.args, *(k.value for k in node.keywords)))
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Subscript | ast.Attribute | ast.Tuple | ast.Slice):
        return all(_pure(n, read) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
    return isinstance(node, ast.Constant | ast.Name)


def _template(node: ast.expr, read: ast.AST) -> str:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if node is read:
                return ast.copy_location(ast.Name(_PLACEHOLDER, ast.Load()), node)
            return self.generic_visit(node)

    return ast.unparse(Replace().visit(copy.deepcopy(node, {id(read): read})))


@lru_cache(maxsize=64)
def _compiled(template: str) -> Any:
    return compile(template, "<reported objective>", "eval")


@dataclass(frozen=True)
class Reduction:
    """A number that a program reports of an array: the same weight on every element.

    Attributes:
        source: The expression as the user wrote it.
        weight: Its derivative with respect to any one scalar of the array.
    """

    source: str
    weight: float


def reported_reduction(frame: FrameType, contents: Any) -> Reduction | None:
    """The sum, mean or multiple of either that a frame is computing from a host read, else None."""
    expression = reported_expression(frame)
    values = np.asarray(contents)
    if expression is None or values.dtype.kind != "f" or not np.all(np.isfinite(values)):
        return None
    size = max(float(np.abs(values).max()), 1.0)
    shifts = np.random.default_rng(0).uniform(0.5, 1.5, values.shape) * size
    base, ones, mixed = (_evaluate(expression, frame, values + s) for s in (0.0, np.full(values.shape, size), shifts))
    if base is None or ones is None or mixed is None:
        return None
    weight = (ones - base) / (size * values.size)
    expected = base + weight * float(shifts.sum())
    if weight == 0.0 or abs(mixed - expected) > 1e-6 * (abs(mixed) + abs(weight) * float(shifts.sum())):
        return None
    return Reduction(expression.source, weight)


def _evaluate(expression: HostExpression, frame: FrameType, contents: Any) -> float | None:
    """Evaluate on contents, with the names of a frame; None where it does not give a finite scalar."""
    names = {**frame.f_globals, **frame.f_locals, _PLACEHOLDER: np.asarray(contents, dtype=np.float64)}
    if not all(_is_harmless(name, names) for name in _names_in(expression.template)):
        return None
    # NumPy imports parts of itself at their first use, through the builtins at hand.
    builtins = {"float": float, "abs": abs, "__import__": __import__}
    try:
        value = np.asarray(eval(_compiled(expression.template), {"__builtins__": builtins}, names))
    except Exception:
        return None
    if value.size != 1 or value.dtype.kind not in "fiu":
        return None
    number = float(value.reshape(()))
    return number if math.isfinite(number) else None


@lru_cache(maxsize=64)
def _names_in(template: str) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(ast.parse(template)) if isinstance(n, ast.Name))


def _is_harmless(name: str, names: dict[str, Any]) -> bool:
    """Whether a name stands for a number, an array, or something of NumPy's: nothing that runs the user's code."""
    if name not in names:
        return name in ("float", "abs")
    value = names[name]
    if isinstance(value, int | float | np.generic) or type(value) is np.ndarray or value is np:
        return True
    return str(getattr(value, "__module__", "")).split(".")[0] == "numpy" and callable(value)
