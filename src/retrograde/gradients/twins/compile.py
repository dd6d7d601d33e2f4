"""Compiles a kernel with some of its source changed, in a module of its own.

Functions whose source changes are defined anew, and so is every function that calls one of them, up to the kernel.
All others are used as they are. The new definitions see the same globals and closure variables as the old ones.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import linecache
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from retrograde.gradients.twins.source import FunctionSource, KernelSource, Role, SourceUnavailableError
from retrograde.trace.warp_api import context, wp


@dataclass(frozen=True, eq=False)
class Change:
    """What a twin has in place of one piece of source.

    Attributes:
        tree: The new definition; the old one is not to be changed in place. Arguments may be added or removed.
        types: Types of the arguments by name, in their order; None to keep them.
        scope: Further names that the definition may use, such as types, constants and functions.
    """

    tree: ast.FunctionDef
    types: Mapping[str, Any] | None = None
    scope: Mapping[str, Any] = field(default_factory=dict[str, Any])


Changes = Mapping[FunctionSource, Change | None]
"""New definitions; None leaves a custom adjoint or replay out."""


class TwinError(Exception):
    """A twin could not be made; the message says of what and why."""


def compile_twin(
    source: KernelSource, changes: Changes, options: Mapping[str, Any] | None = None, *, lasting: bool = True
) -> Any:
    """The kernel with changes, ready to be launched in place of the original.

    Args:
        source: The kernel.
        changes: New definitions of any of its sources (`KernelSource.all()`).
        options: Options of the module ("max_unroll", ...) that differ from those of the kernel's own.
        lasting: Whether it may be launched, and may be a twin made before that is the same; otherwise it is only for
            looking at what Warp makes of it.

    Returns:
        A `wp.Kernel` with its backward pass enabled. Nothing is compiled before its first launch.

    Raises:
        TwinError: Something cannot be redefined.
    """
    return _Maker(source, changes, options or {}).kernel(lasting)


@contextmanager
def quietly() -> Generator[None]:
    """Keep Warp from telling the audited program's user about modules that are ours."""
    loud = {name: getattr(wp.config, name) for name in ("log_level", "quiet") if name in vars(wp.config)}
    for name in loud:
        setattr(wp.config, name, True if name == "quiet" else 100)
    try:
        yield
    finally:
        for name, value in loud.items():
            setattr(wp.config, name, value)


class _Maker:
    def __init__(self, source: KernelSource, changes: Changes, options: Mapping[str, Any]) -> None:
        self.source = source
        self.changes = changes
        self.module = wp.Module(f"twin_{source.kernel.name}", None)
        self.module.options.update(source.kernel.owner.module.options)
        self.module.options.update({"enable_backward": True, "strip_hash": False, **options})
        self.made: dict[int, Any] = {}

    def kernel(self, lasting: bool) -> Any:
        for function in self._affected():
            self._function(function)
        original = self.source.kernel
        options = {k: v for k, v in original.owner.options.items() if k != "enable_backward"}
        python = self._define(original, lambda function: function)
        kernel = wp.Kernel(func=python, key=f"twin_{original.name}", module=self.module, options=options)
        if kernel.is_generic:
            raise TwinError(f"Kernel {original.name} is generic; a twin is made of one of its overloads.")
        return self._registered(kernel) if lasting else kernel

    def _registered(self, kernel: Any) -> Any:
        """The kernel, its module named after all it holds; or the one made before that is the same.

        The name is what Warp's kernel cache goes by, and must not be used twice in one process.
        """
        with quietly():
            name = f"{kernel.key}_{self.module.get_module_hash().hex()[:12]}"
        known = context.user_modules.get(name)
        if known is not None:
            return known.kernels[kernel.key]
        self.module.name = name
        context.user_modules[name] = self.module
        return kernel

    def _affected(self) -> list[Any]:
        """Functions to define anew, callees first."""
        affected: dict[int, Any] = {}
        for source in self.source.functions:
            parts = [p for p in (source, source.gradient, source.replay) if p is not None]
            calls = [r.function for p in parts for r in p.references]
            if any(p in self.changes for p in parts) or any(id(f) in affected for f in calls):
                affected[id(source.function)] = source.function
        return list(affected.values())

    def _function(self, function: Any) -> None:
        """Define all overloads of a function, and after them their custom adjoints and replays."""
        previous: Any = None
        overloads = self.source.overloads(function)
        for source in overloads:
            if source.role is Role.NATIVE:
                raise TwinError(f"{source.name} is native code.")

            def register(python: Any, name: str = source.name, known: Any = previous) -> Any:
                scope_locals = {name: known}
                made = wp.Function(
                    func=python, key=name, namespace="", module=self.module, value_func=None, scope_locals=scope_locals
                )
                return known if known is not None else made

            previous = self._define(source, register)
        self.made[id(function)] = previous
        for source in overloads:
            for part, register in ((source.gradient, wp.func_grad), (source.replay, wp.func_replay)):
                if part is not None and self.changes.get(part, part) is not None:
                    self._define(part, register(previous))

    def _define(self, source: FunctionSource, register: Callable[[Any], Any]) -> Any:
        """Execute a definition in its scope, with the functions made so far in place of the old ones."""
        change = self.changes.get(source) or Change(source.tree)
        types = dict(source.types if change.types is None else change.types)
        scope = {**source.scope, **change.scope}
        tree = self._bind(source, change.tree, scope)
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        file = f"<twin of {source.name} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        scope["__name__"] = self.module.name
        exec(compile(text, file, "exec"), scope)
        python = scope[source.name]
        python.__annotations__ = types
        defaults = getattr(source.owner.func, "__defaults__", None)
        if source.role is not Role.KERNEL and defaults:
            python.__defaults__ = defaults + (None,) * (len(tree.args.args) - len(source.tree.args.args))
        return register(python)

    def _bind(self, source: FunctionSource, tree: ast.FunctionDef, scope: dict[str, Any]) -> ast.FunctionDef:
        """Make the names of redefined functions mean their twins."""
        renamed: dict[str, str] = {}
        for reference in source.references:
            twin = self.made.get(id(reference.function))
            if twin is None:
                continue
            value = wp.grad(twin) if reference.gradient else twin
            if isinstance(reference.node, ast.Name):
                scope[reference.node.id] = value
            else:
                name = f"{reference.function.key}_{len(renamed)}".replace(".", "_")
                renamed[ast.unparse(reference.node)] = name
                scope[name] = value
        return _Renamer(renamed).visit(copy.deepcopy(tree)) if renamed else tree


class _Renamer(ast.NodeTransformer):
    """Puts names in place of dotted names and of `wp.static` calls."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Attribute | ast.Call):
            name = self.names.get(ast.unparse(node))
            if name is not None:
                return ast.Name(name, ast.Load())
        return super().generic_visit(node)


__all__ = ["Change", "Changes", "SourceUnavailableError", "TwinError", "compile_twin"]
