"""Loops that Warp does not unroll, and how many turns of them ran."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrograde.gradients.twins.parameters import NOTES, ROWS
from retrograde.gradients.twins.rewrite import Edit, Rewrite, make_twin, statements
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.trace.warp_api import wp

Loop = ast.For | ast.While

_MANY = 1.0e9
_DRAWS = ("randf", "randn", "randi", "randu", "poisson", "sample_")


@dataclass(frozen=True, eq=False)
class Counted:
    """A loop, and how many turns it ran.

    Attributes:
        least, most: Turns over all threads and calls that reached it.
    """

    piece: FunctionSource
    loop: Loop
    least: int
    most: int

    @property
    def number(self) -> int:
        """Number of the loop's node."""
        return number_of(self.loop)


def count_loops(situation: Situation) -> list[Counted]:
    """All loops that Warp does not unroll, counted by running the kernel with a counter in each."""
    longest = int(situation.source.kernel.owner.module.options.get("max_unroll", 16))
    loops = [(p, n) for p in situation.source.all() for n in _dynamic(p, longest)]
    if not loops or len(loops) > ROWS:
        return []
    counters = [
        Rewrite("", piece, loop.lineno, "", {number_of(loop): _counter(row)}, "", parameters=frozenset({NOTES}))
        for row, (piece, loop) in enumerate(loops)
    ]
    notes = situation.notes(make_twin(situation.source, counters, situation.dimensions))
    return [
        Counted(piece, loop, int(_MANY - notes[row, 1]), int(notes[row, 0])) for row, (piece, loop) in enumerate(loops)
    ]


def carried_by(piece: FunctionSource, loop: Loop) -> set[str]:
    """Variables from before a loop that it changes, states of random numbers among them."""
    inside = [n for s in loop.body for n in ast.walk(s)]
    changed = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    changed |= {r for n in inside if isinstance(n, ast.Assign | ast.AugAssign) for r in _roots(n)}
    changed |= {
        n.args[0].id
        for n in inside
        if isinstance(n, ast.Call) and n.args and isinstance(n.args[0], ast.Name) and _draws(piece, n)
    }
    before = {
        n.id
        for n in ast.walk(piece.tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.lineno < loop.lineno
    }
    arrays = {name for name, kind in piece.types.items() if wp.types.is_array(kind)}
    return changed & (before | {a.arg for a in piece.tree.args.args}) - arrays


def _roots(node: ast.Assign | ast.AugAssign) -> Iterator[str]:
    """Local variables of which a component is assigned."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        base: ast.expr = target
        while isinstance(base, ast.Subscript | ast.Attribute):
            base = base.value
        if isinstance(base, ast.Name) and base is not target:
            yield base.id


def _draws(piece: FunctionSource, call: ast.Call) -> bool:
    return (piece.builtin(call) or "").startswith(_DRAWS)


def jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether a body leaves its loop or its turn early."""
    for statement in body:
        if isinstance(statement, ast.Break | ast.Continue):
            return True
        if isinstance(statement, ast.If) and (jumps(statement.body) or jumps(statement.orelse)):
            return True
    return False


def without_jumps(body: Sequence[ast.stmt], going: str) -> list[ast.stmt]:
    """A body whose `break` sets a flag to 0 and whose `continue` sets it to 2, and that goes on only at 1."""
    made: list[ast.stmt] = []
    for position, statement in enumerate(body):
        if isinstance(statement, ast.Break):
            return [*made, *statements(f"{going} = _wp.int32(0)")]
        if isinstance(statement, ast.Continue):
            return [*made, *statements(f"{going} = _wp.int32(2)")]
        if isinstance(statement, ast.If) and jumps([statement]):
            made.append(
                ast.If(
                    statement.test,
                    without_jumps(statement.body, going) or [ast.Pass()],
                    without_jumps(statement.orelse, going),
                )
            )
            rest = without_jumps(body[position + 1 :], going)
            if rest:
                made.append(ast.If(ast.parse(f"{going} == _wp.int32(1)", mode="eval").body, rest, []))
            return made
        made.append(statement)
    return made


def bounds_of(arguments: Sequence[ast.expr]) -> tuple[ast.expr, ast.expr, ast.expr]:
    """Start, stop and step of a range."""
    zero, one = ast.Constant(0), ast.Constant(1)
    if len(arguments) == 1:
        return zero, arguments[0], one
    return arguments[0], arguments[1], arguments[2] if len(arguments) > 2 else one


def is_range(node: ast.For) -> bool:
    """Whether a loop is one over `range`."""
    call = node.iter
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"


def constant_turns(piece: FunctionSource, node: Loop) -> int | None:
    """Turns of a loop over a range of constants, None for any other."""
    if not isinstance(node, ast.For) or not is_range(node):
        return None
    assert isinstance(node.iter, ast.Call)
    values = [piece.constant(a) for a in node.iter.args]
    if not all(isinstance(v, int) for v in values):
        return None
    return len(range(*values))


def _dynamic(piece: FunctionSource, longest: int) -> Iterator[Loop]:
    for node in ast.walk(piece.tree):
        if isinstance(node, ast.While) or (isinstance(node, ast.For) and is_range(node)):
            turns = constant_turns(piece, node)
            if turns is None or turns > longest:
                yield node


def _counter(row: int) -> Edit:
    name = f"_turns_{row}"

    def edit(loop: Loop) -> list[ast.stmt]:
        counted = copy.copy(loop)
        turn = f"{name} += _wp.int32(1)\n_wp.atomic_max({NOTES}, {row}, 0, _wp.float64({name}))"
        counted.body = [*statements(turn), *loop.body]
        after = statements(f"_wp.atomic_max({NOTES}, {row}, 1, _wp.float64({_MANY}) - _wp.float64({name}))")
        return [*statements(f"{name} = _wp.int32(0)"), counted, *after]

    return edit
