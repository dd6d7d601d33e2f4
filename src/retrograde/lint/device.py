"""Kernels and functions that Warp compiles, as their source shows them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from retrograde.lint.names import WarpNames
from retrograde.lint.tree import walk

_ARRAYS = ("array", "array1d", "array2d", "array3d", "array4d", "indexedarray", "fabricarray", "tile")
_INTEGERS = ("int", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_COMPOSITES = ("vec", "mat", "quat", "transform", "spatial_", "types.vector", "types.matrix", "vector", "matrix")


class Role(Enum):
    """What a definition is to Warp."""

    KERNEL = "kernel"
    FUNCTION = "func"
    GRADIENT = "func_grad"
    REPLAY = "func_replay"
    NATIVE = "func_native"
    INTEGRAND = "fem.integrand"


class Sort(Enum):
    """What an argument or a field holds, as far as its annotation tells."""

    ARRAY = "array"
    INTEGERS = "array of integers"
    INTEGER = "integer"
    SCALAR = "scalar"
    COMPOSITE = "vector or matrix"
    STRUCT = "struct"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class DeviceFunction:
    """A kernel, or a function that kernels call.

    Attributes:
        node: Its definition.
        role: What it is.
        decorator: The decorator that says so.
        sorts: What its arguments hold.
        structs: Names of the structs among its arguments.
        fields: Fields of the structs that the file defines.
        subject: For a custom adjoint or replay, the name of the function it belongs to.
        differentiable: Whether an adjoint is made of it, as far as the file tells.
        half: Names of its arguments that are arrays of float16.
    """

    node: ast.FunctionDef
    role: Role
    decorator: ast.expr
    sorts: Mapping[str, Sort]
    structs: Mapping[str, str] = field(default_factory=dict[str, str])
    fields: Mapping[str, Mapping[str, Sort]] = field(default_factory=dict[str, Mapping[str, Sort]])
    subject: str | None = None
    differentiable: bool = True
    half: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Name in its `def` line."""
        return self.node.name

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of its definition."""
        return tuple(walk(self.node))

    @cached_property
    def locals(self) -> frozenset[str]:
        """Names that the body assigns."""
        return frozenset(n.id for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))

    def sort_of(self, node: ast.expr) -> Sort:
        """What a name or a field of a struct holds."""
        if isinstance(node, ast.Name):
            return self.sorts.get(node.id, Sort.UNKNOWN)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            struct = self.structs.get(node.value.id)
            return self.fields.get(struct, {}).get(node.attr, Sort.UNKNOWN) if struct else Sort.UNKNOWN
        return Sort.UNKNOWN

    def element(self, node: ast.AST) -> tuple[ast.expr, tuple[ast.expr, ...]] | None:
        """Array and indices of an element of an array that can carry a gradient; None for anything else."""
        indices: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            indices[:0] = parts
            node = node.value
        if indices and isinstance(node, ast.Name | ast.Attribute) and self.sort_of(node) is Sort.ARRAY:
            return node, tuple(indices)
        return None


def sort_of_annotation(annotation: ast.expr | None, names: WarpNames, structs: frozenset[str]) -> Sort:
    """What an annotation says."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return Sort.UNKNOWN
    if annotation is None:
        return Sort.UNKNOWN
    parts, element = _array_parts(annotation, names)
    if parts is not None:
        return Sort.INTEGERS if element is not None and _is_integer(element, names) else Sort.ARRAY
    if _is_integer(annotation, names):
        return Sort.INTEGER
    return _plain_sort(annotation, names, structs)


def is_half(annotation: ast.expr | None, names: WarpNames) -> bool:
    """Whether an annotation is an array of float16."""
    if annotation is None:
        return False
    parts, element = _array_parts(annotation, names)
    return parts is not None and names.resolve(element) == "float16"


def _array_parts(annotation: ast.expr, names: WarpNames) -> tuple[str | None, ast.expr | None]:
    """Which array an annotation names, and of what; nothing where it names none."""
    if isinstance(annotation, ast.Call):
        made = names.called(annotation)
        given = next((k.value for k in annotation.keywords if k.arg == "dtype"), None)
        return (made, given or (annotation.args[0] if annotation.args else None)) if made in _ARRAYS else (None, None)
    if isinstance(annotation, ast.Subscript):
        made = names.resolve(annotation.value)
        element = annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice
        return (made, element) if made in _ARRAYS else (None, None)
    made = names.resolve(annotation)
    return (made, None) if made in _ARRAYS else (None, None)


def _is_integer(node: ast.expr, names: WarpNames) -> bool:
    known = node.id if isinstance(node, ast.Name) and node.id in ("int", "bool") else names.resolve(node)
    return known in _INTEGERS or (known is not None and known.startswith("vec") and known[-1:] in "ibu")


def _plain_sort(node: ast.expr, names: WarpNames, structs: frozenset[str]) -> Sort:
    if isinstance(node, ast.Name) and node.id in structs:
        return Sort.STRUCT
    if isinstance(node, ast.Name) and node.id == "float":
        return Sort.SCALAR
    known = names.resolve(node.func if isinstance(node, ast.Call) else node)
    if known is None:
        return Sort.UNKNOWN
    if known.startswith("float"):
        return Sort.SCALAR
    return Sort.COMPOSITE if known.startswith(_COMPOSITES) else Sort.UNKNOWN


def walk_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a body in order, those inside loops and branches too, not those of inner definitions."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from walk_statements(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from walk_statements(handler.body)
        for case in getattr(statement, "cases", []):
            yield from walk_statements(case.body)
