"""What a kernel does with each of its arguments, read off its source.

For every array argument, and every array field of a struct argument: is an element loaded, stored
(its old value lost), or accumulated into (`+=`, `-=`, atomic add)? Functions that the kernel calls are
followed. What cannot be told (native code, arrays handed to unknown calls) is taken as all three, so
that an access is never missed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from retrograde.trace.warp_api import context, wp

_ACCUMULATING = frozenset({"atomic_add", "atomic_sub", "tile_atomic_add"})
_ATOMIC = frozenset({"atomic_min", "atomic_max", "atomic_cas", "atomic_exch", "atomic_and", "atomic_or", "atomic_xor"})
_STORING = frozenset({"tile_store", "store"})
_QUERIES = frozenset({"len", "shape", "static", "printf", "print"})
_RANDOM = frozenset(
    {"rand_init", "randf", "randi", "randn", "randu", "poisson", "sample_cdf", "sample_triangle", "sample_unit_ring",
     "sample_unit_disk", "sample_unit_sphere_surface", "sample_unit_sphere", "sample_unit_hemisphere_surface",
     "sample_unit_hemisphere", "sample_unit_square", "sample_unit_cube"}
)  # fmt: skip

Path = tuple[str, ...]


@dataclass(frozen=True)
class Usage:
    """How a launch treats one array.

    Attributes:
        load: Elements are read.
        store: Elements are overwritten.
        accumulate: Elements are added to.
        lines: Lines of the kernel's file that store or accumulate.
        over: Those of them that store after a load of the same array.
        multiplied: Those of them that multiply or divide in place.
    """

    load: bool = False
    store: bool = False
    accumulate: bool = False
    lines: tuple[int, ...] = ()
    over: tuple[int, ...] = ()
    multiplied: tuple[int, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether contents may change."""
        return self.store or self.accumulate

    def __or__(self, other: Usage) -> Usage:
        lines = tuple(sorted({*self.lines, *other.lines}))
        over = tuple(sorted({*self.over, *other.over, *(other.lines if self.load and other.store else ())}))
        multiplied = tuple(sorted({*self.multiplied, *other.multiplied}))
        load, store = self.load or other.load, self.store or other.store
        return Usage(load, store, self.accumulate or other.accumulate, lines, over, multiplied)


EVERYTHING = Usage(load=True, store=True, accumulate=True)


@dataclass(frozen=True)
class KernelUsage:
    """Usage of every array of a kernel by the path to it: ("x",) or ("body", "velocity").

    Attributes:
        arrays: The usages.
        random: Whether random numbers are drawn.
        exact: Whether every access could be followed to an argument.
        returns_array: Whether a function hands back one of its arrays, or a row of one.
    """

    arrays: Mapping[Path, Usage]
    random: bool
    exact: bool
    returns_array: bool = False

    def of(self, path: Path) -> Usage:
        """Usage of the array at a path; the longest known prefix answers for what lies below it."""
        if not self.exact:
            return EVERYTHING
        for length in range(len(path), 0, -1):
            found = self.arrays.get(path[:length])
            if found is not None:
                return found
        return Usage()


def kernel_usage(kernel: Any) -> KernelUsage:
    """Read the usage of a kernel's arguments off its source, following the functions it calls."""
    return _Reader().function(kernel.adj)


class _Reader:
    """Walks one kernel and, recursively, the functions it calls; each function is read once."""

    def __init__(self) -> None:
        self._known: dict[int, KernelUsage] = {}
        self._open: set[int] = set()

    def function(self, adjoint: Any) -> KernelUsage:
        identity = id(adjoint)
        if identity in self._known:
            return self._known[identity]
        if identity in self._open:
            return KernelUsage({}, random=False, exact=False)
        self._open.add(identity)
        walker = _Walker(self, adjoint)
        definition = adjoint.tree.body[0]
        for statement in definition.body:
            walker.visit(statement)
        usage = KernelUsage(dict(walker.arrays), walker.random, walker.exact, walker.returns_array)
        self._open.discard(identity)
        self._known[identity] = usage
        return usage


class _Walker(ast.NodeVisitor):
    def __init__(self, reader: _Reader, adjoint: Any) -> None:
        self.reader = reader
        self.adjoint = adjoint
        self.types: dict[str, Any] = {a.label: a.type for a in adjoint.args}
        self.alias: dict[str, tuple[Path, int]] = {name: ((name,), 0) for name in self.types}
        self.arrays: dict[Path, Usage] = {}
        self.random = False
        self.exact = True
        self.returns_array = False
        self.bare: ast.expr | None = None

    # -- roots -------------------------------------------------------------------------------------

    def root(self, node: ast.expr) -> tuple[Path, int] | None:
        """Path of the array an expression reaches into, and how many indices it uses."""
        if isinstance(node, ast.Name):
            return self.alias.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.root(node.value)
            if base is None:
                return None
            path, indices = base
            if indices == 0 and self.is_struct(path):
                return (*path, node.attr), 0
            if self.is_holder(base) and _holds_arrays(self.type_of((*path, node.attr))):
                return (*path, node.attr), 0
            return path, indices
        if isinstance(node, ast.Subscript):
            base = self.root(node.value)
            if base is None:
                return None
            path, indices = base
            count = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
            return path, indices + count
        return None

    def type_of(self, path: Path) -> Any:
        kind: Any = self.types.get(path[0])
        for name in path[1:]:
            variables: dict[str, Any] = getattr(kind, "vars", None) or {}
            if name not in variables and wp.types.is_array(kind):
                variables = getattr(kind.dtype, "vars", None) or {}
            if name not in variables:
                return None
            kind = variables[name].type
        return kind

    def is_struct(self, path: Path) -> bool:
        return isinstance(getattr(self.type_of(path), "vars", None), dict)

    def is_holder(self, root: tuple[Path, int]) -> bool:
        """Whether an expression is an element of an array of structs that hold arrays."""
        kind = self.type_of(root[0])
        return bool(wp.types.is_array(kind)) and root[1] == kind.ndim and _holds_arrays(kind.dtype)

    def is_number(self, path: Path) -> bool:
        """Whether a path leads to a number that may be that of an object."""
        return self.type_of(path) is wp.uint64

    def is_array(self, path: Path) -> bool:
        kind = self.type_of(path)
        return kind is None or wp.types.is_array(kind)

    def note(self, path: Path, usage: Usage) -> None:
        for length in range(1, len(path)):
            if wp.types.is_array(self.type_of(path[:length])):
                self.arrays[path[:length]] = self.arrays.get(path[:length], Usage()) | Usage(load=True)
        if len(path) > 1 and self.type_of(path) is not None and not self.is_array(path) and not self.is_struct(path):
            return
        self.arrays[path] = self.arrays.get(path, Usage()) | usage

    def line(self, node: ast.AST) -> int:
        return int(self.adjoint.fun_lineno) + getattr(node, "lineno", 1) - 1

    # -- statements --------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.target(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.target(node.target, node.value)

    def target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self.target(item, value)
            return
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
            return
        self.indices(target)
        root = self.root(target)
        if root is None and isinstance(target, ast.Attribute) and self.is_view(value):
            self.exact = False
        if root is not None and (root[1] > 0 or len(root[0]) > 1):
            self.note(root[0], Usage(store=True, lines=(self.line(target),)))

    def bind(self, name: str, value: ast.expr) -> None:
        root = self.root(value)
        if root is None:
            if name not in self.types:
                self.alias.pop(name, None)
            return
        path, indices = root
        kind = self.type_of(path)
        dimensions = getattr(kind, "ndim", 0) if wp.types.is_array(kind) else 0
        if indices < dimensions or (indices == 0 and self.is_struct(path)) or self.is_holder(root):
            self.alias[name] = root
        elif name not in self.types:
            self.alias.pop(name, None)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self.indices(node.target)
        root = self.root(node.target)
        if root is None or (root[1] == 0 and len(root[0]) == 1):
            return
        adds = isinstance(node.op, ast.Add | ast.Sub)
        lines = (self.line(node),)
        usage = Usage(accumulate=True, lines=lines) if adds else Usage(True, True, False, lines, lines, lines)
        self.note(root[0], usage)

    def indices(self, node: ast.expr) -> None:
        while isinstance(node, ast.Subscript | ast.Attribute):
            if isinstance(node, ast.Subscript):
                self.visit(node.slice)
            node = node.value

    # -- expressions -------------------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.indices(node)
        root = self.root(node)
        if root is None:
            self.visit(node.value)
        elif self.is_array(root[0]) and not self.partial(root):
            self.note(root[0], Usage(load=True))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in ("shape", "strides", "size", "ndim"):
            return
        root = self.root(node)
        if root is None:
            self.visit(node.value)
        elif root[1] > 0:
            self.indices(node)
            self.note(root[0], Usage(load=True))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _RANDOM:
            self.random = True
        callee = self.resolve(node.func)
        whole: list[tuple[int, Path]] = []
        for position, argument in enumerate([*node.args, *(k.value for k in node.keywords)]):
            root = self.root(argument)
            if root is None or (root[1] > 0 and not self.partial(root) and not self.is_holder(root)):
                self.visit(argument)
            elif self.is_array(root[0]) or self.is_struct(root[0]) or self.is_number(root[0]):
                whole.append((position, root[0]))
        for position, path in whole:
            self.argument(path, name, callee, position, node)
        if name.startswith("volume_") and not any(position == 0 for position, _ in whole):
            for label in (n for n in self.types if self.is_number((n,))):
                self.volume((label,), name, node)

    def volume(self, path: Path, name: str, node: ast.Call) -> None:
        """A number handed to a built-in, which may be that of a volume."""
        if name.startswith("volume_store"):
            self.note(path, Usage(store=True, lines=(self.line(node),)))
        elif name.startswith("volume_"):
            self.note(path, Usage(load=True))

    def visit_Expr(self, node: ast.Expr) -> None:
        self.bare = node.value
        self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.returns_array = self.returns_array or self.is_view(node.value)

    def is_view(self, node: ast.expr) -> bool:
        """Whether an expression is an array, or a row of one, rather than an element."""
        root = self.root(node)
        if root is None:
            return False
        kind = self.type_of(root[0])
        return bool(wp.types.is_array(kind)) and root[1] < getattr(kind, "ndim", 0)

    def partial(self, root: tuple[Path, int]) -> bool:
        kind = self.type_of(root[0])
        return bool(wp.types.is_array(kind)) and root[1] < getattr(kind, "ndim", 0)

    def argument(self, path: Path, name: str, callee: Any, position: int, node: ast.Call) -> None:
        """An array or a struct handed to a call."""
        if callee is not None and getattr(callee, "adj", None) is not None and not callee.is_builtin():
            self.follow(path, callee, position, node)
        elif self.is_number(path):
            self.volume(path, name, node)
        elif name in _QUERIES:
            return
        elif name in _ACCUMULATING:
            returned = node is not self.bare
            self.note(path, Usage(load=returned, accumulate=True, lines=(self.line(node),)))
        elif name in _ATOMIC:
            self.note(path, Usage(load=True, store=True, lines=(self.line(node),)))
        elif name in _STORING:
            self.note(path, Usage(store=True, lines=(self.line(node),)))
        elif callee is not None and callee.is_builtin():
            self.note(path, Usage(load=True))
        elif callee is None and self.is_struct_constructor(node.func):
            self.note(path, EVERYTHING)
        else:
            self.note(path, EVERYTHING)

    def follow(self, path: Path, callee: Any, position: int, node: ast.Call) -> None:
        if callee.native_snippet is not None or not getattr(callee.adj, "tree", None):
            self.note(path, EVERYTHING)
            return
        for overload in _overloads(callee):
            inner = self.reader.function(overload.adj)
            self.random = self.random or inner.random
            self.exact = self.exact and inner.exact and not inner.returns_array
            labels = [a.label for a in overload.adj.args]
            if position < len(node.args):
                label = labels[position] if position < len(labels) else None
            else:
                label = node.keywords[position - len(node.args)].arg
            for inner_path, usage in inner.arrays.items():
                if inner_path[0] == label:
                    self.note((*path, *inner_path[1:]), usage)

    def resolve(self, node: ast.expr) -> Any:
        """The Warp function a call names, None where it is something else."""
        try:
            found, _ = self.adjoint.resolve_static_expression(node, eval_types=False)
        except Exception:
            found = None
        if found is wp and isinstance(node, ast.Attribute):
            found = context.builtin_functions.get(node.attr)
        return found if isinstance(found, wp.Function) else None

    def is_struct_constructor(self, node: ast.expr) -> bool:
        try:
            found, _ = self.adjoint.resolve_static_expression(node, eval_types=False)
        except Exception:
            return False
        return isinstance(getattr(found, "vars", None), dict)


def _holds_arrays(kind: Any) -> bool:
    """Whether a type is an array, or a struct with arrays in it."""
    if wp.types.is_array(kind):
        return True
    variables: dict[str, Any] = getattr(kind, "vars", None) or {}
    return any(_holds_arrays(v.type) for v in variables.values())


def _overloads(function: Any) -> Iterable[Any]:
    overloads = list(getattr(function, "user_overloads", {}).values())
    return overloads or [function]
