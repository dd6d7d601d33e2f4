"""Loops that Warp does not unroll: it does not restore what they carry from turn to turn."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from retrograde.gradients.twins.rewrite import Edit, Rewrite, statements
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import number_of
from retrograde.gradients.twins.stored import Storage
from retrograde.gradients.twins.turns import (
    Counted,
    bounds_of,
    carried_by,
    count_loops,
    jumps,
    without_jumps,
)

_MOST_TURNS = 40


def find_loops(situation: Situation) -> list[Rewrite]:
    """One rewrite for each loop that ran: unrolled to the most turns that it took, or with its states stored.

    Loops within a loop whose states are stored are rewritten with it.
    """
    counted = [c for c in count_loops(situation) if c.most > 0]
    storage = Storage(situation, counted)
    found: list[Rewrite] = []
    for outer in counted:
        if any(outer is not c and _holds(c, outer) for c in counted):
            continue
        nest = [c for c in counted if c is outer or _holds(outer, c)]
        if _unrolled_turns(outer, nest) <= _MOST_TURNS:
            found += [_unrolling(c) for c in nest if carried_by(c.piece, c.loop)]
        elif (stored := storage.rewrite(nest)) is not None:
            found.append(stored)
    return found


def _holds(outer: Counted, inner: Counted) -> bool:
    return outer.piece is inner.piece and any(n is inner.loop for s in outer.loop.body for n in ast.walk(s))


def _unrolled_turns(loop: Counted, nest: Sequence[Counted]) -> int:
    """Copies of the innermost body if a loop and those in it are unrolled."""
    inner = [c for c in nest if c is not loop and _holds(loop, c)]
    return loop.most * max((_unrolled_turns(c, inner) for c in inner), default=1)


def _unrolling(counted: Counted) -> Rewrite:
    loop, piece = counted.loop, counted.piece
    carried = ", ".join(sorted(carried_by(piece, loop)))
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


def _unroll(counted: Counted) -> Edit:
    most, number = counted.most, number_of(counted.loop)

    def edit(loop: ast.For | ast.While) -> list[ast.stmt]:
        leaves = jumps(loop.body)
        going = f"_going_{number}"
        turn = f"_turn_{number}"
        before: list[ast.stmt] = []
        body = without_jumps(loop.body, going) if leaves else list(loop.body)
        if isinstance(loop, ast.While):
            conditions = [loop.test]
            start: list[ast.stmt] = []
            index: ast.expr = ast.Name(turn, ast.Store())
        else:
            assert isinstance(loop.iter, ast.Call)
            first, stop, step = bounds_of(loop.iter.args)
            index = ast.Name(turn, ast.Store())
            assert isinstance(loop.target, ast.Name)
            start = []
            if _is_constant(first, 0) and _is_constant(step, 1):
                index = ast.Name(loop.target.id, ast.Store())
            else:
                value = f"{ast.unparse(first)} + {turn} * ({ast.unparse(step)})"
                start = statements(f"{loop.target.id} = {value}")
            conditions = []
            if counted.least != counted.most or leaves:
                sign = ">" if ast.unparse(step).startswith("-") else "<"
                conditions = [ast.parse(f"{loop.target.id} {sign} {ast.unparse(stop)}", mode="eval").body]
        if leaves:
            before = statements(f"{going} = _wp.int32(1)")
            body = [*statements(f"{going} = _wp.min({going}, _wp.int32(1))"), *body]
            conditions = [ast.parse(f"{going} >= _wp.int32(1)", mode="eval").body, *conditions]
        inner: list[ast.stmt] = body
        for condition in reversed(conditions):
            inner = [ast.If(condition, inner, [])]
        turns = ast.parse(f"range({most})", mode="eval").body
        return [*before, ast.For(index, turns, [*start, *inner], [])]

    return edit


def _is_constant(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == value
