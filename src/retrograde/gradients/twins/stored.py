"""Loops with what they carry stored in an array, turn by turn: what a user would do with a loop too long to unroll.

A loop becomes one of a fixed number of turns. Each turn reads what is carried from its own place in the array, goes
on only if the loop would have, and stores what it leaves in the next place. A loop within a loop has places of its
own in every turn of the outer one, and a loop in a function in every call of it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from retrograde.gradients.twins.parameters import BASE, STATES, THREAD
from retrograde.gradients.twins.rewrite import Edit, Rewrite, statements
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, Role, number_of
from retrograde.gradients.twins.turns import (
    Counted,
    Loop,
    bounds_of,
    carried_by,
    constant_turns,
    is_range,
    jumps,
    without_jumps,
)
from retrograde.gradients.twins.types import types_of
from retrograde.trace.warp_api import wp

_LARGEST = 1 << 26
_INTEGERS = (wp.int8, wp.int16, wp.int32, wp.int64, wp.uint8, wp.uint16, wp.uint32, wp.uint64)
_SCALARS = (wp.float16, wp.float32, wp.float64, wp.bool, *_INTEGERS)

Kinds = dict[str, Any]


@dataclass(frozen=True)
class _Around:
    """A loop around something: how many turns it takes at most, and the number of a turn as text."""

    turns: int
    turn: str


@dataclass(frozen=True)
class _Calls:
    """The calls of a function, told apart: how many there are in a thread, and what tells each its number."""

    count: int
    edits: Mapping[FunctionSource, Mapping[int, Edit]]


class Storage:
    """Gives loops places in the array of states.

    Args:
        situation: The launch.
        counted: All loops that ran and that Warp does not unroll.
    """

    def __init__(self, situation: Situation, counted: Sequence[Counted]) -> None:
        self.situation = situation
        self.counted = {(c.piece, c.number): c for c in counted}
        self.columns = 0

    def rewrite(self, nest: Sequence[Counted]) -> Rewrite | None:
        """A rewrite that stores what a loop, and those in it, carry; None where it cannot.

        Args:
            nest: A loop that no other one is around that Warp does not unroll, and all such loops in it.
        """
        outer, piece = nest[0], nest[0].piece
        calls = self._calls(piece)
        if calls is None:
            return None
        edits: dict[int, Edit] = {}
        scope: dict[str, Any] = {}
        start = self.columns
        for counted in nest:
            kinds = self._kinds(counted)
            around = self._around(piece, counted.loop, nest)
            if kinds is None or around is None or not _is_regular(counted.loop):
                return None
            width = sum(_width(k) for k in kinds.values())
            size = (counted.most + 1) * width
            base = BASE if calls.count > 1 else "0"
            edits[counted.number] = _storing(counted, kinds, f"{start} + ({_index(base, around)}) * {size}")
            scope |= {f"_kind_{name}_{counted.number}": kind for name, kind in kinds.items()}
            start += calls.count * prod(a.turns for a in around) * size
        if start == self.columns or start * self.situation.threads * 8 > _LARGEST:
            return None
        self.columns = start
        names = ", ".join(sorted(carried_by(piece, outer.loop)))
        return Rewrite(
            code="RG403",
            source=piece,
            line=outer.loop.lineno,
            subject=(
                f"The loop changes {names} in a number of turns known only at run time (up to {outer.most} turns here)"
            ),
            edits=edits,
            elsewhere=calls.edits,
            advice=f"Store each partial result of {names} in an element of an array of its own, and go on from there.",
            scope=scope,
            parameters=frozenset({STATES, THREAD, BASE} if calls.count > 1 else {STATES, THREAD}),
            columns=start,
            patch=False,
            evidence={"turns": outer.most},
        )

    # -- what is carried

    def _kinds(self, counted: Counted) -> Kinds | None:
        """Types of the variables that a loop carries, None where one has no type that can be stored."""
        nodes: dict[str, int] = {}
        carried = carried_by(counted.piece, counted.loop)
        for node in ast.walk(counted.piece.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in carried:
                nodes.setdefault(node.id, number_of(node))
        types = types_of(self.situation.source, [(counted.piece, n) for n in nodes.values()])
        kinds: Kinds = {}
        for name, number in sorted(nodes.items()):
            found = types[counted.piece, number]
            if len(found) != 1 or _scalar(found[0]) not in _SCALARS:
                return None
            kinds[name] = found[0]
        if jumps(counted.loop.body):
            kinds[_going(counted)] = wp.int32
        return kinds

    # -- where

    def _around(self, piece: FunctionSource, node: ast.AST, nest: Sequence[Counted] = ()) -> list[_Around] | None:
        """The loops around something, the outermost first; None where the number of a turn cannot be told."""
        found: list[_Around] = []
        for loop in ast.walk(piece.tree):
            if not isinstance(loop, ast.For | ast.While) or loop is node:
                continue
            if not any(inner is node for s in loop.body for inner in ast.walk(s)):
                continue
            counted = self.counted.get((piece, number_of(loop)))
            if counted is not None and counted in nest:
                found.append(_Around(counted.most, _turn(counted)))
                continue
            turns = constant_turns(piece, loop) if counted is None else counted.most
            if turns is None or not isinstance(loop, ast.For) or not _is_regular(loop):
                return None
            found.append(_Around(turns, _turn_of_range(loop)))
        return found

    def _calls(self, piece: FunctionSource) -> _Calls | None:
        """The calls of a function; None where they cannot be told apart."""
        if piece.role is Role.KERNEL:
            return _Calls(1, {})
        if piece.role is not Role.FUNCTION:
            return None
        count = 0
        edits: dict[FunctionSource, dict[int, Edit]] = {}
        for caller in self.situation.source.all():
            for reference in caller.references:
                if reference.function is not piece.function:
                    continue
                call = _call_of(caller, reference.node)
                above = self._calls(caller)
                around = None if call is None else self._around(caller, call)
                if call is None or above is None or around is None:
                    return None
                base = BASE if above.count > 1 else "0"
                edits.setdefault(caller, {})[number_of(call)] = _numbered(
                    f"_wp.int32({count} + {_index(base, around)})"
                )
                for source, more in above.edits.items():
                    edits.setdefault(source, {}).update(more)
                count += above.count * prod(a.turns for a in around)
        return _Calls(count, edits if count > 1 else {})


def _call_of(caller: FunctionSource, name: ast.expr) -> ast.Call | None:
    return next((n for n in ast.walk(caller.tree) if isinstance(n, ast.Call) and n.func is name), None)


def _numbered(number: str) -> Edit:
    """Hands the number of a call over."""

    def edit(call: ast.Call) -> ast.Call:
        if not any(k.arg == BASE for k in call.keywords):
            call.keywords.append(ast.keyword(BASE, ast.parse(number, mode="eval").body))
        return call

    return edit


def _index(base: str, around: Sequence[_Around]) -> str:
    """One number for a call and the turns of the loops around."""
    text = base
    for loop in around:
        text = f"({text}) * {loop.turns} + {loop.turn}"
    return text


def _turn(counted: Counted) -> str:
    return f"_turn_{counted.number}"


def _going(counted: Counted) -> str:
    return f"_going_{counted.number}"


def _turn_of_range(loop: ast.For) -> str:
    """Number of a turn, by the variable of a loop over a range."""
    assert isinstance(loop.iter, ast.Call)
    first = bounds_of(loop.iter.args)[0]
    text = ast.unparse(loop.target)
    if not isinstance(first, ast.Constant) or first.value != 0:
        text = f"({text} - ({ast.unparse(first)}))"
    return text if _step(loop) == 1 else f"{text} // {_step(loop)}"


def _is_regular(loop: Loop) -> bool:
    """Whether a loop is a `while`, or over a range whose step is written out."""
    if isinstance(loop, ast.While):
        return True
    if not is_range(loop) or not isinstance(loop.target, ast.Name):
        return False
    assert isinstance(loop.iter, ast.Call)
    return _step(loop) != 0


def _step(loop: ast.For) -> int:
    assert isinstance(loop.iter, ast.Call)
    step = bounds_of(loop.iter.args)[2]
    sign = 1
    if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub):
        step, sign = step.operand, -1
    return sign * step.value if isinstance(step, ast.Constant) and isinstance(step.value, int) else 0


def _scalar(kind: Any) -> Any:
    return getattr(kind, "_wp_scalar_type_", kind)


def _width(kind: Any) -> int:
    return int(np.prod(getattr(kind, "_shape_", (1,))))


# -- the loop ------------------------------------------------------------------------------------------


def _storing(counted: Counted, kinds: Kinds, start: str) -> Edit:
    number, going = counted.number, _going(counted)
    at, here, turn = f"_at_{number}", f"_here_{number}", _turn(counted)
    width = sum(_width(k) for k in kinds.values())

    def edit(loop: Loop) -> list[ast.stmt]:
        leaves = going in kinds
        before = statements(f"{at} = _wp.int32({start})")
        body: list[ast.stmt] = list(loop.body)
        begin: list[ast.stmt] = []
        if isinstance(loop, ast.While):
            condition = loop.test
        else:
            assert isinstance(loop.iter, ast.Call)
            first, stop, _ = bounds_of(loop.iter.args)
            step, name = _step(loop), ast.unparse(loop.target)
            ends = {f"_first_{number}": first, f"_stop_{number}": stop}
            before += statements("\n".join(f"{n} = _wp.int32({ast.unparse(e)})" for n, e in ends.items()))
            begin = statements(f"{name} = _first_{number} + {turn} * ({step})")
            condition = ast.parse(f"{name} {'<' if step > 0 else '>'} _stop_{number}", mode="eval").body
        if leaves:
            before += statements(f"{going} = _wp.int32(1)")
            body = [*statements(f"{going} = _wp.int32(1)"), *without_jumps(loop.body, going)]
        inner: list[ast.stmt] = [ast.If(condition, body, [])]
        if leaves:
            inner = [ast.If(ast.parse(f"{going} >= _wp.int32(1)", mode="eval").body, inner, [])]
        turns = ast.parse(f"range({counted.most})", mode="eval").body
        in_turn = [
            *statements(f"{here} = {at} + {turn} * {width}"),
            *_load(kinds, here, number),
            *begin,
            *inner,
            *_store(kinds, f"{here} + {width}"),
        ]
        return [
            *before,
            *_store(kinds, at),
            ast.For(ast.Name(turn, ast.Store()), turns, in_turn, []),
            *_load(kinds, f"{at} + {counted.most * width}", number),
        ]

    return edit


def _places(kinds: Kinds) -> list[tuple[str, str, int]]:
    """Every component: the variable, the expression for the component, and its place."""
    places: list[tuple[str, str, int]] = []
    for name, kind in kinds.items():
        shape = getattr(kind, "_shape_", ())
        indices = [f"[{', '.join(map(str, i))}]" for i in np.ndindex(*shape)] if shape else [""]
        places += [(name, name + index, len(places) + k) for k, index in enumerate(indices)]
    return places


def _store(kinds: Kinds, at: str) -> list[ast.stmt]:
    lines: list[str] = []
    for name, text, place in _places(kinds):
        value = f"_wp.float64({text})"
        if kinds[name] is wp.bool:
            value = f"_wp.where({text}, _wp.float64(1.0), _wp.float64(0.0))"
        lines.append(f"{STATES}[{THREAD}, {at} + {place}] = {value}")
    return statements("\n".join(lines))


def _load(kinds: Kinds, at: str, number: int) -> list[ast.stmt]:
    lines: list[str] = []
    for name, kind in kinds.items():
        scalar = _scalar(kind)
        cells = [f"{STATES}[{THREAD}, {at} + {p}]" for n, _, p in _places(kinds) if n == name]
        parts = [f"{c} > _wp.float64(0.5)" if scalar is wp.bool else f"_wp.{scalar.__name__}({c})" for c in cells]
        lines.append(
            f"{name} = {parts[0]}" if scalar is kind else f"{name} = _kind_{name}_{number}({', '.join(parts)})"
        )
    return statements("\n".join(lines))
