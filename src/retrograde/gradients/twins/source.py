"""The source of a kernel and of the functions it calls, as syntax trees with the lines of the user's files.

Everything that Warp can reach from a kernel is followed: functions by name, through modules, classes and objects,
closures, overloads, generic functions, functions handed on as arguments, `wp.static` and `wp.grad`, and the custom
adjoints and replays of all of these. Nothing in a tree is shared with Warp.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from retrograde.trace.warp_api import context, wp

_SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
"""Nodes of which Python has one each, for all trees: a number of their own would be that of another tree."""


class Role(Enum):
    """What a piece of source is to Warp."""

    KERNEL = "kernel"
    FUNCTION = "function"
    GRADIENT = "custom adjoint"
    REPLAY = "custom replay"
    NATIVE = "native function"


@dataclass(frozen=True, eq=False)
class Reference:
    """An expression of a tree that names one of the user's functions.

    Attributes:
        node: The expression: a name, a dotted name, or a call of `wp.static`.
        function: The function, the first of its overloads.
        gradient: Whether what is named is `wp.grad` of it.
    """

    node: ast.expr
    function: Any
    gradient: bool = False


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """The source of a kernel, of one overload of a function, or of a custom adjoint or replay.

    Attributes:
        role: What it is.
        owner: Warp's object, a `wp.Kernel` or a `wp.Function`.
        tree: Its definition, without decorators, annotations and defaults; lines are those of the file. Not to be
            changed in place: see `compile.Change`.
        file: The file.
        types: Types of its arguments by name, in order; "return" too where annotated. Concrete for an overload of
            a generic kernel, with `Any` in them for a generic function.
        scope: What its free names mean: globals, and over them the variables of its closure.
        function: The first overload of the function it belongs to; None for a kernel.
        gradient, replay: Sources of its `func_grad` and `func_replay`.
    """

    role: Role
    owner: Any
    tree: ast.FunctionDef
    file: str
    types: Mapping[str, Any]
    scope: Mapping[str, Any] = field(repr=False)
    function: Any = None
    gradient: FunctionSource | None = None
    replay: FunctionSource | None = None

    @property
    def name(self) -> str:
        """Name in the `def` line."""
        return self.tree.name

    @cached_property
    def locals(self) -> frozenset[str]:
        """Names that the definition binds: its arguments, and what its body assigns."""
        arguments = {a.arg for a in self.tree.args.args}
        stored = (n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        return frozenset(arguments.union(stored))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every expression that names a function of the user, in the order of the text."""
        return tuple(self._find(self.tree))

    def constant(self, node: ast.expr) -> Any:
        """Value of an expression of constants alone, None where anything local is in it."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return None if names & self.locals else self._evaluate(node)

    def line(self, number: int) -> str:
        """The text of a line of the file, stripped."""
        return linecache.getline(self.file, number).strip()

    def lookup(self, node: ast.expr) -> Any:
        """What a name or a dotted name means to Warp, None where it is local or unknown."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.locals:
            return None
        found = self.scope.get(node.id)
        if found is None and not path:
            found = getattr(wp, node.id, None) or context.builtin_functions.get(node.id)
        for name in path:
            if found is wp and not hasattr(wp, name):
                return context.builtin_functions.get(name)
            found = getattr(found, name, None)
        return found

    def builtin(self, call: ast.Call) -> str | None:
        """Name of the built-in that a call calls ("sqrt"), None where it calls something else."""
        found: Any = self.lookup(call.func)
        if isinstance(found, wp.Function):
            function: Any = found
            return str(function.key) if function.is_builtin() else None
        if found is None:
            return None
        name = getattr(found, "__name__", "")
        return name if name in context.builtin_functions else None

    def _find(self, node: ast.AST) -> Iterator[Reference]:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            reference = _reference(node, self.lookup(node))
            if reference is not None:
                yield reference
                return
        if isinstance(node, ast.Call) and self._is_static(node):
            reference = _reference(node, self._evaluate(node.args[0]) if node.args else None)
            if reference is not None:
                yield reference
            return
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            name = _OPERATORS.get(type(node.op), "")
            overloaded = _reference(ast.Name(name, ast.Load()), self.scope.get(name))
            if overloaded is not None:
                yield overloaded
        for child in ast.iter_child_nodes(node):
            yield from self._find(child)

    def _is_static(self, node: ast.Call) -> bool:
        return getattr(self.lookup(node.func), "__name__", "") == "static"

    def _evaluate(self, node: ast.expr) -> Any:
        """Value of an expression inside `wp.static`, None where it depends on something local."""
        try:
            return eval(compile(ast.Expression(node), self.file, "eval"), dict(self.scope))
        except Exception:
            return None


# User functions of these names stand for the operators (Warp looks for them before its own).
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.USub: "neg", ast.UAdd: "pos",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class KernelSource:
    """A kernel with every function that it reaches.

    Attributes:
        kernel: The kernel's own source.
        functions: Sources of the functions, overload by overload; what is called stands before what calls it.
    """

    kernel: FunctionSource
    functions: tuple[FunctionSource, ...]

    def overloads(self, function: Any) -> tuple[FunctionSource, ...]:
        """Sources of a function that a reference names."""
        return tuple(s for s in self.functions if s.function is function)

    def all(self) -> Iterator[FunctionSource]:
        """Every source: functions, each followed by its custom adjoint and replay, and the kernel last."""
        for source in self.functions:
            yield source
            yield from (s for s in (source.gradient, source.replay) if s is not None)
        yield self.kernel


class SourceUnavailableError(Exception):
    """A kernel or a function has no Python source that can be read; the message names it."""


def read_kernel(kernel: Any) -> KernelSource:
    """Read a kernel and what it reaches.

    Args:
        kernel: A `wp.Kernel`; of a generic kernel, the overload that ran.

    Raises:
        SourceUnavailableError: Some source cannot be read.
    """
    reader = _Reader()
    source = _read(Role.KERNEL, kernel, None)
    reader.follow(source)
    return KernelSource(source, tuple(reader.functions))


def overloads_of(function: Any) -> tuple[Any, ...]:
    """The overloads of a function that the user wrote; not those that Warp made of generic ones."""
    written = [f for f in getattr(function, "user_overloads", {}).values() if f.generic_parent is None]
    written += list(getattr(function, "user_templates", {}).values())
    return tuple(written) or (function,)


class _Reader:
    """Collects functions depth first, so that callees come before callers."""

    def __init__(self) -> None:
        self.functions: list[FunctionSource] = []
        self.seen: set[int] = set()

    def follow(self, source: FunctionSource) -> None:
        for part in (source, source.gradient, source.replay):
            for reference in part.references if part is not None else ():
                self.function(reference.function)

    def function(self, function: Any) -> None:
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        for overload in overloads_of(function):
            source = _read_function(overload, function)
            self.follow(source)
            self.functions.append(source)


def _read_function(overload: Any, function: Any) -> FunctionSource:
    if overload.native_snippet is not None:
        return _read(Role.NATIVE, overload, function)
    gradient, replay = overload.custom_grad_func, overload.custom_replay_func
    return _read(
        Role.FUNCTION,
        overload,
        function,
        None if gradient is None else _read(Role.GRADIENT, gradient, function),
        None if replay is None else _read(Role.REPLAY, replay, function),
    )


def _read(
    role: Role,
    owner: Any,
    function: Any,
    gradient: FunctionSource | None = None,
    replay: FunctionSource | None = None,
) -> FunctionSource:
    code = getattr(inspect.unwrap(owner.func), "__code__", None)
    if code is None or owner.adj.source is None:
        raise SourceUnavailableError(f"The source of {owner.key} cannot be read.")
    return FunctionSource(
        role=role,
        owner=owner,
        tree=_tree(owner.adj, code.co_firstlineno),
        file=code.co_filename,
        types=dict(owner.adj.arg_types),
        scope=scope_of(owner.func),
        function=function,
        gradient=gradient,
        replay=replay,
    )


def _tree(adjoint: Any, first: int) -> ast.FunctionDef:
    """A fresh tree, its lines those of the file."""
    if getattr(adjoint, "transformers", None):
        module = ast.parse(ast.unparse(adjoint.tree))
    else:
        module = ast.parse(adjoint.source)
    definition = module.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise SourceUnavailableError(f"{adjoint.fun_name} is not a plain function.")
    definition.args = ast.arguments(
        posonlyargs=[],
        args=[ast.copy_location(ast.arg(a.arg), a) for a in definition.args.args],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    definition.decorator_list = []
    definition.returns = None
    for number, node in enumerate(n for n in ast.walk(definition) if not isinstance(n, _SHARED)):
        node.number = number  # pyright: ignore[reportAttributeAccessIssue]
    return ast.increment_lineno(definition, first - 1)


def number_of(node: ast.AST) -> int:
    """Number of a node in its source's tree, kept by copies of it; -1 for a node that was made anew."""
    return int(getattr(node, "number", -1))


def scope_of(function: Any) -> dict[str, Any]:
    """What the free names of a Python function mean."""
    unwrapped = inspect.unwrap(function)
    scope = dict(unwrapped.__globals__)
    for name, cell in zip(unwrapped.__code__.co_freevars, unwrapped.__closure__ or (), strict=True):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # a variable of the enclosing function that has no value yet
            continue
    return scope


def _reference(node: ast.expr, found: Any) -> Reference | None:
    if isinstance(found, wp.Function) and not found.is_builtin():
        return Reference(node, found)
    inner: Any = getattr(found, "func", None) if type(found).__name__ == "GradWrapper" else None
    if isinstance(inner, wp.Function) and not inner.is_builtin():
        return Reference(node, inner, gradient=True)
    return None
