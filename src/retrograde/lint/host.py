"""What a program does with tapes, as its source shows it: function by function, in the order of the lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from retrograde.lint.device import DeviceFunction, walk_statements
from retrograde.lint.module import SourceModule
from retrograde.lint.names import WarpNames
from retrograde.lint.tree import walk

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Launch:
    """One call of `wp.launch`.

    Attributes:
        node: The call.
        kernel: The expression that names the kernel.
        inputs, outputs: What is handed over, by the text of each expression.
    """

    node: ast.Call
    kernel: ast.expr
    inputs: tuple[ast.expr, ...]
    outputs: tuple[ast.expr, ...]


@dataclass(frozen=True, eq=False)
class TapeBlock:
    """One `with` statement that records.

    Attributes:
        node: The statement.
        tape: Text of the expression that names the tape; empty where nothing does.
        made_here: Whether the tape is made by the statement itself.
        loops: Loops of the same function around it, the innermost last.
        siblings: The statements after it in the same body.
    """

    node: ast.With
    tape: str
    made_here: bool
    loops: tuple[ast.For | ast.While, ...]
    siblings: tuple[ast.stmt, ...]


@dataclass(frozen=True, eq=False)
class HostScope:
    """The module's top level, or a function of the host.

    Attributes:
        module: The file.
        node: The module or the function.
    """

    module: SourceModule
    node: Scope

    @cached_property
    def names(self) -> WarpNames:
        """What names mean in Warp."""
        return self.module.names

    @cached_property
    def statements(self) -> tuple[ast.stmt, ...]:
        """All statements of its own, in order."""
        return tuple(walk_statements(self.node.body))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of its own statements, those of inner functions left out."""
        return tuple(_own(self.node.body))

    @cached_property
    def blocks(self) -> tuple[TapeBlock, ...]:
        """Blocks that record on a tape."""
        return tuple(self._blocks(self.node.body, ()))

    @cached_property
    def tapes(self) -> frozenset[str]:
        """Texts of the expressions that tapes are bound to, here or as attributes anywhere in the file."""
        return self.module.tapes | {
            ast.unparse(t)
            for n in self.statements
            if isinstance(n, ast.Assign) and self.names.called(n.value) == "Tape"
            for t in n.targets
        }

    def _blocks(self, body: Sequence[ast.stmt], loops: tuple[ast.For | ast.While, ...]) -> Iterator[TapeBlock]:
        for position, node in enumerate(body):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if isinstance(node, ast.With):
                for item in node.items:
                    made = self.names.called(item.context_expr) == "Tape"
                    if made or ast.unparse(item.context_expr) in self.tapes:
                        named = item.optional_vars if made else item.context_expr
                        text = ast.unparse(named) if named is not None else ""
                        yield TapeBlock(node, text, made, loops, tuple(body[position + 1 :]))
            inner = (*loops, node) if isinstance(node, ast.For | ast.While) else loops
            for part in ("body", "orelse", "finalbody"):
                yield from self._blocks(getattr(node, part, []), inner)

    def launches(self, body: Sequence[ast.stmt]) -> list[Launch]:
        """Launches in some statements, in order."""
        return [
            launch
            for statement in body
            for node in walk(statement)
            if isinstance(node, ast.Call) and (launch := self._launch(node)) is not None
        ]

    def _launch(self, node: ast.Call) -> Launch | None:
        if self.names.called(node) not in ("launch", "launch_tiled"):
            return None
        given = {k.arg: k.value for k in node.keywords}
        kernel = node.args[0] if node.args else given.get("kernel")
        inputs = node.args[2] if len(node.args) > 2 else given.get("inputs")
        outputs = node.args[3] if len(node.args) > 3 else given.get("outputs")
        return None if kernel is None else Launch(node, kernel, _items(inputs), _items(outputs))

    def own_calls(self, *methods: str) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Calls of methods with these names anywhere in the scope, each with the object that it is called on."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
                yield node, node.func.value

    def calls(self, body: Sequence[ast.stmt], *methods: str) -> Iterator[tuple[ast.Call, ast.expr]]:
        """The same in some statements."""
        for statement in body:
            for node in walk(statement):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
                    yield node, node.func.value


def _own(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(
                n
                for n in ast.iter_child_nodes(node)
                if not isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr_context)
            )


@lru_cache(maxsize=4)
def host_scopes(module: SourceModule) -> tuple[HostScope, ...]:
    """The top level of a file that speaks of tapes, and its functions that are not compiled for the device."""
    if not module.uses_tapes:
        return ()
    device = {id(d.node) for d in module.devices}
    functions = [n for n in module.statements if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = [n for n in functions if id(n) not in device]
    return tuple(HostScope(module, node) for node in (module.tree, *inner))


def written_by(module: SourceModule, launch: Launch) -> list[tuple[ast.expr, bool]]:
    """Arrays that a launch writes, by the kernel's source where it is here, each with whether it is read too."""
    device = module.named(launch.kernel.id) if isinstance(launch.kernel, ast.Name) else None
    if device is None:
        return [(output, False) for output in launch.outputs]
    arguments = [a.arg for a in device.node.args.args]
    given = dict(zip(arguments, (*launch.inputs, *launch.outputs), strict=False))
    stored, read = _stored_and_read(module, device)
    return [(given[name], name in read) for name in arguments if name in given and name in stored]


@lru_cache(maxsize=64)
def _stored_and_read(module: SourceModule, device: DeviceFunction) -> tuple[set[str], set[str]]:
    stored: set[str] = set()
    read: set[str] = set()
    for inner in device.nodes:
        if isinstance(inner, ast.Subscript):
            base: ast.expr = inner
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name):
                (stored if isinstance(inner.ctx, ast.Store) else read).add(base.id)
        elif isinstance(inner, ast.Call) and (module.names.called(inner) or "").startswith("atomic_") and inner.args:
            if isinstance(inner.args[0], ast.Name):
                stored.add(inner.args[0].id)
        elif isinstance(inner, ast.AugAssign) and isinstance(inner.op, ast.Add | ast.Sub):
            continue
    return stored, read


def read_by(module: SourceModule, launch: Launch) -> list[ast.expr]:
    """Arrays that a launch reads; by the kernel's source where it is here."""
    device = module.named(launch.kernel.id) if isinstance(launch.kernel, ast.Name) else None
    if device is None:
        return list(launch.inputs)
    arguments = [a.arg for a in device.node.args.args]
    given = dict(zip(arguments, (*launch.inputs, *launch.outputs), strict=False))
    _, read = _stored_and_read(module, device)
    handed_on = {
        a.id
        for n in device.nodes
        if isinstance(n, ast.Call) and not (module.names.called(n) or "").startswith("atomic_")
        for a in n.args
        if isinstance(a, ast.Name)
    }
    return [given[name] for name in arguments if name in given and name in (read | handed_on)]


def _items(node: ast.expr | None) -> tuple[ast.expr, ...]:
    return tuple(node.elts) if isinstance(node, ast.List | ast.Tuple) else ()
