"""Values that a loop carries, followed through a kernel to where its adjoint needs them.

Warp runs the turns of a loop that it does not unroll backwards, but does not restore what the loop had made of its
variables: the adjoint sees them as they were before the loop. That does no harm to a sum, whose adjoint needs no
value. It does where the adjoint needs one: a product, a quotient, a function, an index, a condition. So each
expression is followed for two things: whether a gradient can flow through it, and whether its value is one of those
that the adjoint sees wrongly.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from retrograde.lint.device import DeviceFunction, Role, Sort
from retrograde.lint.names import WarpNames
from retrograde.lint.tree import walk

Loop = ast.For | ast.While

_DEEPEST = 4
"""Nested loops that are looked at twice each."""

_LINEAR = (
    *("neg", "cast", "tid", "transpose", "trace", "static", "vector", "matrix"),
    *("tile_view", "tile_store", "tile_load", "tile_sum", "tile_broadcast", "tile_assign"),
)
_TYPES = ("vec", "mat", "quat", "transform", "spatial_", "float")
_QUIET = ("type", "print", "printf", "expect_eq", "expect_near", "len", "breakpoint")
_COUNTING = ("tid", "rand_init", "randi", "randf", "randn", "hash", "block_dim")


@dataclass(frozen=True)
class Value:
    """What is known of a value.

    Attributes:
        active: Whether a gradient can flow through it.
        stale: The loop and the variable through which the adjoint sees it wrongly; None where it sees it rightly.
    """

    active: bool = False
    stale: tuple[Loop, str] | None = None

    def __or__(self, other: Value) -> Value:
        return Value(self.active or other.active, self.stale or other.stale)


@dataclass(frozen=True, eq=False)
class Need:
    """A value that the adjoint needs and sees wrongly.

    Attributes:
        loop: The loop that made it.
        variable: The variable that the loop carries.
        node: The expression whose adjoint needs it.
    """

    loop: Loop
    variable: str
    node: ast.AST


@dataclass(eq=False)
class Carried:
    """Follows the values of one kernel or function.

    Args:
        device: The kernel or function.
        names: What names mean in Warp.
        max_unroll: Turns up to which Warp unrolls a loop with constant bounds.
        constants: Integers that names of the file stand for.
    """

    device: DeviceFunction
    names: WarpNames
    max_unroll: int
    constants: dict[str, int]
    needs: dict[tuple[int, str], Need] = field(default_factory=dict[tuple[int, str], Need])
    _known: dict[str, Value] = field(default_factory=dict[str, Value])
    _looking: int = 0

    def find(self) -> list[Need]:
        """The first need of each variable of each loop."""
        active = self.device.role is not Role.KERNEL
        for name, sort in self.device.sorts.items():
            number = sort in (Sort.SCALAR, Sort.COMPOSITE, Sort.UNKNOWN, Sort.STRUCT)
            self._known[name] = Value(active=active and number)
        self._run(self.device.node.body)
        return list(self.needs.values())

    # -- statements --------------------------------------------------------------------------------

    def _run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            value = self._value(node.value)
            for target in node.targets:
                self._store(target, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._store(node.target, self._value(node.value))
        elif isinstance(node, ast.AugAssign):
            read = _as_read(node.target)
            self._store(node.target, self._value(ast.copy_location(ast.BinOp(read, node.op, node.value), node)))
        elif isinstance(node, ast.If):
            self._branch(node)
        elif isinstance(node, ast.For | ast.While):
            self._loop(node)
        elif isinstance(node, ast.Expr | ast.Return) and node.value is not None:
            self._value(node.value)

    def _store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._known[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._store(part, value)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            array = self.device.element(target)
            if array is not None:
                if value.active:
                    self._indices(target, array[1])
                return
            root = _root(target)
            if root is not None and root in self._known:
                self._known[root] = self._known[root] | value

    def _branch(self, node: ast.If) -> None:
        test = self._value(node.test)
        before = dict(self._known)
        if test.stale is not None and (self._moves(node.body) or self._moves(node.orelse)):
            self._need(test, node.test)
        self._run(node.body)
        taken, self._known = self._known, before
        self._run(node.orelse)
        for name, value in taken.items():
            self._known[name] = value | self._known[name] if name in self._known else value

    def _moves(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a branch does something that a gradient flows through."""
        known, self._looking = dict(self._known), self._looking + 1
        try:
            self._run(body)
            after = self._known
            changed = _assigned(body)
            stores = any(
                self.device.element(n) is not None
                for s in body
                for n in walk(s)
                if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
            )
            return stores or any(after.get(name, Value()).active for name in changed)
        finally:
            self._known, self._looking = known, self._looking - 1

    # -- loops -------------------------------------------------------------------------------------

    def _loop(self, node: Loop) -> None:
        if isinstance(node, ast.For):
            self._value(node.iter)
            self._store(node.target, Value())
        if not self._is_dynamic(node):
            self._quietly(node.body)
            self._run(node.body)
            return
        changed = _assigned(node.body)
        carried = {n for n in changed if n in self._known and _is_read_first(n, node)}
        for name in carried:
            self._known[name] = Value(self._known[name].active, (node, name))
        self._quietly(node.body)
        for name in carried:
            self._known[name] = Value(self._known[name].active, (node, name))
        if isinstance(node, ast.While):
            self._value(node.test)
        self._run(node.body)
        for name in changed:
            self._known[name] = Value(self._known.get(name, Value()).active, (node, name))

    def _quietly(self, body: Sequence[ast.stmt]) -> None:
        """Run a turn for what it makes of the variables, so that the next one knows."""
        if self._looking >= _DEEPEST:
            return
        self._looking += 1
        self._run(body)
        self._looking -= 1

    def _is_dynamic(self, node: Loop) -> bool:
        if isinstance(node, ast.While):
            return True
        call = node.iter
        if not isinstance(call, ast.Call) or self.names.called(call) == "static":
            return False
        if not (isinstance(call.func, ast.Name) and call.func.id == "range"):
            return False
        bounds = [self._constant(a) for a in call.args]
        if any(b is None for b in bounds):
            return True
        turns = range(*(b for b in bounds if b is not None))
        return len(turns) > self.max_unroll

    def _constant(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self._constant(node.operand)
            return None if inner is None else -inner
        if isinstance(node, ast.BinOp):
            return self._constant_sum(node)
        if isinstance(node, ast.Attribute) and node.attr == "length":
            return 1  # of a vector or matrix: part of its type
        if isinstance(node, ast.Name) and node.id not in self.device.locals and node.id not in self.device.sorts:
            return self.constants.get(node.id, 1)  # a constant of the program, short unless it is known to be long
        if self.names.called(node) in ("static", "constant", "int32") and isinstance(node, ast.Call) and node.args:
            # wp.static is a constant of the compiled kernel, whatever it is: short unless it is known to be long.
            return self._constant(node.args[0]) or (1 if self.names.called(node) == "static" else None)
        return None

    def _constant_sum(self, node: ast.BinOp) -> int | None:
        left, right = self._constant(node.left), self._constant(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        return left * right if isinstance(node.op, ast.Mult) else max(left, right)

    # -- expressions -------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Name):
            return self._known.get(node.id, Value())
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.UnaryOp):
            inner = self._value(node.operand)
            return Value(False, inner.stale) if isinstance(node.op, ast.Not) else inner
        if isinstance(node, ast.Compare | ast.BoolOp):
            parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else node.values
            return Value(False, self._any(parts).stale)
        if isinstance(node, ast.IfExp):
            return self._chosen(node, node.test, (node.body, node.orelse))
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Tuple | ast.List):
            return self._any(node.elts)
        return Value()

    def _any(self, nodes: Sequence[ast.expr]) -> Value:
        found = Value()
        for node in nodes:
            found = found | self._value(node)
        return found

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return left | right
        if isinstance(node.op, ast.Mult | ast.MatMult):
            self._need_if(left, right.active, node)
            self._need_if(right, left.active, node)
        elif isinstance(node.op, ast.Div):
            self._need_if(right, left.active or right.active, node)
            self._need_if(left, right.active, node)
        else:
            self._need_if(left | right, left.active or right.active, node)
        return left | right

    def _subscript(self, node: ast.Subscript) -> Value:
        array = self.device.element(node)
        if array is not None:
            self._indices(node, array[1])
            return Value(active=True)
        sort = self.device.sort_of(_array_of(node))
        if sort is Sort.INTEGERS:
            return Value(False, self._any(_index_parts(node)).stale)
        return self._value(node.value) | Value(False, self._any(_index_parts(node)).stale)

    def _indices(self, node: ast.expr, indices: Sequence[ast.expr]) -> None:
        found = self._any(indices)
        self._need_if(found, True, node)

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr in ("shape", "ndim", "size"):
            return Value()
        sort = self.device.sort_of(node)
        if sort in (Sort.INTEGER, Sort.INTEGERS):
            return Value()
        return self._value(node.value)

    def _call(self, node: ast.Call) -> Value:
        name = self.names.called(node)
        arguments = [*node.args, *(k.value for k in node.keywords)]
        plain = node.func.id if isinstance(node.func, ast.Name) else None
        if name in ("where", "select") and len(node.args) == 3:
            return self._chosen(node, node.args[0], node.args[1:])
        if name is not None and name.startswith("atomic_") and node.args:
            return self._atomic(node)
        found = self._any(arguments)
        if plain in ("int", "bool") or (name or "").startswith(("int", "uint", "bool")):
            return Value(False, found.stale)
        if name in _COUNTING or name in _QUIET or plain in _QUIET:
            return Value()
        if plain == "float" or name in _LINEAR or (name or "").startswith(_TYPES):
            return found
        if name is None and plain is None and not found.active:
            return found
        self._need_if(found, found.active, node)
        return Value(found.active or self._reads_arrays(arguments), found.stale)

    def _reads_arrays(self, arguments: Sequence[ast.expr]) -> bool:
        return any(self.device.sort_of(a) is Sort.ARRAY for a in arguments)

    def _atomic(self, node: ast.Call) -> Value:
        array, *rest = node.args
        if self.device.sort_of(array) is Sort.ARRAY and rest:
            value = self._value(rest[-1])
            if value.active:
                self._indices(node, rest[:-1])
        return Value()

    def _chosen(self, node: ast.expr, test: ast.expr, choices: Sequence[ast.expr]) -> Value:
        decided, found = self._value(test), self._any(choices)
        self._need_if(decided, found.active, node)
        return Value(found.active, found.stale or decided.stale)

    # -- needs -------------------------------------------------------------------------------------

    def _need_if(self, value: Value, other_active: bool, node: ast.AST) -> None:
        if other_active:
            self._need(value, node)

    def _need(self, value: Value, node: ast.AST) -> None:
        if value.stale is None or self._looking:
            return
        loop, variable = value.stale
        self.needs.setdefault((id(loop), variable), Need(loop, variable, node))


def integer_constants(tree: ast.Module, called: Callable[[ast.AST | None], str | None]) -> dict[str, int]:
    """Names that a file gives an integer once, plain or as `wp.constant`."""
    found: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=False))
            for name, given in pairs:
                number = given.args[0] if isinstance(given, ast.Call) and called(given) == "constant" else given
                if isinstance(name, ast.Name) and isinstance(number, ast.Constant) and isinstance(number.value, int):
                    found[name.id] = number.value
    return found


def _assigned(body: Sequence[ast.stmt]) -> set[str]:
    return {n.id for s in body for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {
        root
        for s in body
        for n in walk(s)
        if isinstance(n, ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store) and (root := _root(n))
    }


def _is_read_first(name: str, loop: Loop) -> bool:
    """Whether a turn may read a variable before it has written it."""
    if isinstance(loop, ast.While) and _reads(loop.test, name):
        return True
    return _reads_before_writing(name, loop.body) is not False


def _reads_before_writing(name: str, body: Sequence[ast.stmt]) -> bool | None:
    """True if it is read first, False if surely written first, None if neither."""
    for statement in body:
        if isinstance(statement, ast.If):
            if _reads(statement.test, name):
                return True
            sides = [_reads_before_writing(name, statement.body), _reads_before_writing(name, statement.orelse)]
            if True in sides:
                return True
            if sides == [False, False]:
                return False
        elif isinstance(statement, ast.For | ast.While):
            if any(_reads(n, name) for n in walk(statement) if isinstance(n, ast.expr)):
                return True
        elif isinstance(statement, ast.AugAssign):
            if _reads(statement.value, name) or _root(statement.target) == name:
                return True
        elif isinstance(statement, ast.Assign):
            if _reads(statement.value, name):
                return True
            if any(isinstance(t, ast.Subscript | ast.Attribute) and _root(t) == name for t in statement.targets):
                return True
            if any(name in _bound(t) for t in statement.targets):
                return False
        elif _reads(statement, name):
            return True
    return None


def _bound(target: ast.expr) -> set[str]:
    return {n.id for n in walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(node))


def _root(node: ast.AST) -> str | None:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _array_of(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _index_parts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _as_read(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    return target
