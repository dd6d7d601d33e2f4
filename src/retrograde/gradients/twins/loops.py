"""Loops that Warp does not unroll: it does not restore what they carry from turn to turn."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrograde.gradients.twins.parameters import NOTES, ROWS
from retrograde.gradients.twins.rewrite import Edit, Rewrite, make_twin, statements
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.gradients.twins.stored import store_loop

_MOST_TURNS = 40
_MANY = 1.0e9

Loop = ast.For | ast.While


@dataclass(frozen=True, eq=False)
class _Counted:
    """A loop, and how many turns it ran.

    Attributes:
        least, most: Turns over all threads and calls that reached it.
    """

    piece: FunctionSource
    loop: Loop
    least: int
    most: int


def find_loops(situation: Situation) -> list[Rewrite]:
    """One rewrite for each loop that ran: unrolled to the most turns that it took, or with its states stored."""
    candidates = [(p, n) for p in situation.source.all() for n in _dynamic(p, _unrolled_by_warp(situation))]
    found: list[Rewrite] = []
    columns = 0
    for counted in _count(situation, candidates):
        if 0 < counted.most <= _MOST_TURNS:
            found.append(_unrolling(counted))
        elif counted.most and isinstance(counted.loop, ast.For) and _runs_once(situation, counted):
            carried = sorted(_carried(counted.piece, counted.loop))
            stored = store_loop(situation, counted.piece, counted.loop, carried, counted.most, columns)
            if stored is not None:
                found.append(stored)
                columns = stored.columns
    return found


def _runs_once(situation: Situation, counted: _Counted) -> bool:
    """Whether each thread runs a loop at most once: not within another loop, nor in a function called again."""
    if _jumps(counted.loop.body):
        return False
    piece, node = counted.piece, counted.loop
    while _is_alone(piece, node):
        if piece is situation.source.kernel:
            return True
        calls = [(p, r.node) for p in situation.source.all() for r in p.references if r.function is piece.function]
        if len(calls) != 1:
            return False
        piece, node = calls[0]
    return False


def _is_alone(piece: FunctionSource, node: ast.AST) -> bool:
    loops = [n for n in ast.walk(piece.tree) if isinstance(n, ast.For | ast.While) and n is not node]
    return not any(inner is node for loop in loops for inner in ast.walk(loop))


def _unrolled_by_warp(situation: Situation) -> int:
    return int(situation.source.kernel.owner.module.options.get("max_unroll", 16))


def _dynamic(piece: FunctionSource, longest: int) -> Iterator[Loop]:
    for node in ast.walk(piece.tree):
        if isinstance(node, ast.While) or (isinstance(node, ast.For) and _is_range(node)):
            turns = _constant_turns(piece, node)
            if (turns is None or turns > longest) and _carries(piece, node):
                yield node


def _is_range(node: ast.For) -> bool:
    call = node.iter
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"


def _constant_turns(piece: FunctionSource, node: Loop) -> int | None:
    if isinstance(node, ast.While):
        return None
    assert isinstance(node.iter, ast.Call)
    values = [piece.constant(a) for a in node.iter.args]
    if not all(isinstance(v, int) for v in values):
        return None
    return len(range(*values))


def _carries(piece: FunctionSource, loop: Loop) -> bool:
    """Whether the loop changes a variable that exists before it."""
    changed = {n.id for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    before = {a.arg for a in piece.tree.args.args}
    before |= {
        n.id
        for n in ast.walk(piece.tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.lineno < loop.lineno
    }
    return bool(changed & before)


# -- how many turns ------------------------------------------------------------------------------------


def _count(situation: Situation, loops: Sequence[tuple[FunctionSource, Loop]]) -> list[_Counted]:
    """Run the kernel with a counter in each loop."""
    if not loops or len(loops) > ROWS:
        return []
    counters = [
        Rewrite("", piece, loop.lineno, "", {number_of(loop): _counter(row)}, "", parameters=frozenset({NOTES}))
        for row, (piece, loop) in enumerate(loops)
    ]
    notes = situation.notes(make_twin(situation.source, counters, situation.dimensions))
    return [
        _Counted(piece, loop, int(_MANY - notes[row, 1]), int(notes[row, 0])) for row, (piece, loop) in enumerate(loops)
    ]


def _counter(row: int) -> Edit:
    name = f"_turns_{row}"

    def edit(loop: Loop) -> list[ast.stmt]:
        counted = copy.copy(loop)
        counted.body = [*statements(f"{name} += _wp.int32(1)"), *loop.body]
        after = statements(
            f"_wp.atomic_max({NOTES}, {row}, 0, _wp.float64({name}))\n"
            f"_wp.atomic_max({NOTES}, {row}, 1, _wp.float64({_MANY}) - _wp.float64({name}))"
        )
        return [*statements(f"{name} = _wp.int32(0)"), counted, *after]

    return edit


# -- unrolled ------------------------------------------------------------------------------------------


def _unrolling(counted: _Counted) -> Rewrite:
    loop, piece = counted.loop, counted.piece
    carried = ", ".join(sorted(_carried(piece, loop)))
    many = f"{counted.most} turns" if counted.least == counted.most else f"up to {counted.most} turns"
    return Rewrite(
        code="RG403",
        source=piece,
        line=loop.lineno,
        subject=f"The loop changes {carried} in a number of turns known only at run time ({many} here)",
        edits={number_of(loop): _unroll(counted)},
        advice=(
            "Give the loop a constant bound, which Warp unrolls (up to max_unroll turns), or store each partial result "
            "in an array of its own."
        ),
        options={"max_unroll": max(counted.most, 16)},
        evidence={"turns": counted.most},
    )


def _carried(piece: FunctionSource, loop: Loop) -> set[str]:
    changed = {n.id for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    before = {
        n.id
        for n in ast.walk(piece.tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.lineno < loop.lineno
    }
    return changed & (before | {a.arg for a in piece.tree.args.args})


def _unroll(counted: _Counted) -> Edit:
    most, number = counted.most, number_of(counted.loop)

    def edit(loop: Loop) -> list[ast.stmt]:
        jumps = _jumps(loop.body)
        going = f"_going_{number}"
        turn = f"_turn_{number}"
        before: list[ast.stmt] = []
        body = _without_jumps(loop.body, going) if jumps else list(loop.body)
        if isinstance(loop, ast.While):
            conditions = [loop.test]
            start: list[ast.stmt] = []
            index: ast.expr = ast.Name(turn, ast.Store())
        else:
            assert isinstance(loop.iter, ast.Call)
            first, stop, step = _bounds(loop.iter.args)
            index = ast.Name(turn, ast.Store())
            assert isinstance(loop.target, ast.Name)
            start = []
            if _is_constant(first, 0) and _is_constant(step, 1):
                index = ast.Name(loop.target.id, ast.Store())
            else:
                value = f"{ast.unparse(first)} + {turn} * ({ast.unparse(step)})"
                start = statements(f"{loop.target.id} = {value}")
            conditions = []
            if counted.least != counted.most or not _steady(loop):
                sign = ">" if ast.unparse(step).startswith("-") else "<"
                conditions = [ast.parse(f"{loop.target.id} {sign} {ast.unparse(stop)}", mode="eval").body]
        if jumps:
            before = statements(f"{going} = _wp.int32(1)")
            body = [*statements(f"{going} = _wp.min({going}, _wp.int32(1))"), *body]
            conditions = [ast.parse(f"{going} >= _wp.int32(1)", mode="eval").body, *conditions]
        inner: list[ast.stmt] = body
        for condition in reversed(conditions):
            inner = [ast.If(condition, inner, [])]
        turns = ast.parse(f"range({most})", mode="eval").body
        return [*before, ast.For(index, turns, [*start, *inner], [])]

    return edit


def _steady(loop: ast.For) -> bool:
    return not _jumps(loop.body)


def _bounds(arguments: Sequence[ast.expr]) -> tuple[ast.expr, ast.expr, ast.expr]:
    zero, one = ast.Constant(0), ast.Constant(1)
    if len(arguments) == 1:
        return zero, arguments[0], one
    return arguments[0], arguments[1], arguments[2] if len(arguments) > 2 else one


def _is_constant(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether a body leaves its loop or its turn early."""
    for statement in body:
        if isinstance(statement, ast.Break | ast.Continue):
            return True
        if isinstance(statement, ast.If) and (_jumps(statement.body) or _jumps(statement.orelse)):
            return True
    return False


def _without_jumps(body: Sequence[ast.stmt], going: str) -> list[ast.stmt]:
    """A body whose `break` sets a flag to 0 and whose `continue` sets it to 2, and that goes on only at 1."""
    made: list[ast.stmt] = []
    for position, statement in enumerate(body):
        if isinstance(statement, ast.Break):
            return [*made, *statements(f"{going} = _wp.int32(0)")]
        if isinstance(statement, ast.Continue):
            return [*made, *statements(f"{going} = _wp.int32(2)")]
        if isinstance(statement, ast.If) and _jumps([statement]):
            made.append(
                ast.If(
                    statement.test,
                    _without_jumps(statement.body, going) or [ast.Pass()],
                    _without_jumps(statement.orelse, going),
                )
            )
            rest = _without_jumps(body[position + 1 :], going)
            if rest:
                made.append(ast.If(ast.parse(f"{going} == _wp.int32(1)", mode="eval").body, rest, []))
            return made
        made.append(statement)
    return made
