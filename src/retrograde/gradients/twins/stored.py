"""Loops with what they carry stored in an array, turn by turn: what a user would do with a loop too long to unroll."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from retrograde.gradients.twins.parameters import STATES, THREAD
from retrograde.gradients.twins.rewrite import Edit, Rewrite, statements
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.gradients.twins.types import types_of
from retrograde.trace.warp_api import wp

_LARGEST = 1 << 26
_SCALARS = (wp.float16, wp.float32, wp.float64, wp.int32, wp.int64)


def store_loop(
    situation: Situation, piece: FunctionSource, loop: ast.For, carried: Sequence[str], turns: int, start: int
) -> Rewrite | None:
    """A rewrite that stores what a loop carries; None where it cannot.

    Args:
        situation: The launch.
        piece: Where the loop is.
        loop: A loop over `range`, without jumps, that each thread runs at most once.
        carried: The variables that it carries.
        turns: The most turns that it took.
        start: First free column of the array of states.
    """
    kinds = _kinds(situation, piece, carried)
    if kinds is None or (bounds := _bounds(loop)) is None:
        return None
    width = sum(_width(k) for k in kinds.values())
    columns = start + (turns + 1) * width
    if columns * situation.threads * 8 > _LARGEST:
        return None
    names = ", ".join(carried)
    return Rewrite(
        code="RG403",
        source=piece,
        line=loop.lineno,
        subject=f"The loop changes {names} in a number of turns known only at run time (up to {turns} turns here)",
        edits={number_of(loop): _storing(kinds, bounds, width, start)},
        advice=f"Store each partial result of {names} in an element of an array of its own, and go on from there.",
        scope={f"_kind_{name}": kind for name, kind in kinds.items()},
        parameters=frozenset({STATES, THREAD}),
        columns=columns,
        patch=False,
        evidence={"turns": turns},
    )


def _kinds(situation: Situation, piece: FunctionSource, carried: Sequence[str]) -> dict[str, Any] | None:
    """Types of the variables, None where one has no type that can be stored."""
    nodes: dict[str, int] = {}
    for node in ast.walk(piece.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in carried:
            nodes.setdefault(node.id, number_of(node))
    if set(nodes) != set(carried):
        return None
    types = types_of(situation.source, [(piece, n) for n in nodes.values()])
    kinds: dict[str, Any] = {}
    for name, number in nodes.items():
        found = types[piece, number]
        if len(found) != 1 or _scalar(found[0]) not in _SCALARS:
            return None
        kinds[name] = found[0]
    return kinds


def _scalar(kind: Any) -> Any:
    return getattr(kind, "_wp_scalar_type_", kind)


def _width(kind: Any) -> int:
    return int(np.prod(getattr(kind, "_shape_", (1,))))


def _bounds(loop: ast.For) -> tuple[str, str, int] | None:
    """Start, stop and step; the step must be written out."""
    assert isinstance(loop.iter, ast.Call)
    arguments = loop.iter.args
    if len(arguments) == 1:
        return "0", ast.unparse(arguments[0]), 1
    step = arguments[2] if len(arguments) > 2 else ast.Constant(1)
    if not isinstance(step, ast.Constant) or not isinstance(step.value, int) or step.value <= 0:
        return None
    return ast.unparse(arguments[0]), ast.unparse(arguments[1]), step.value


def _storing(kinds: dict[str, Any], bounds: tuple[str, str, int], width: int, start: int) -> Edit:
    first, stop, step = bounds

    def edit(loop: ast.For) -> list[ast.stmt]:
        assert isinstance(loop.target, ast.Name)
        tag = start
        here = f"_here_{tag}"
        turn = f"(({loop.target.id}) - ({first})) / {step}" if step != 1 else f"({loop.target.id}) - ({first})"
        turns = f"_wp.max((({stop}) - ({first}) + {step - 1}) / {step}, 0)"
        body = [
            *statements(f"{here} = {start} + ({turn}) * {width}"),
            *_load(kinds, here),
            *loop.body,
            *_store(kinds, f"{here} + {width}"),
        ]
        after = statements(f"_end_{tag} = {start} + {turns} * {width}")
        return [
            *_store(kinds, str(start)),
            ast.For(loop.target, loop.iter, body, []),
            *after,
            *_load(kinds, f"_end_{tag}"),
        ]

    return edit


def _places(kinds: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Every component: the variable, the expression for the component, and its place."""
    places: list[tuple[str, str, int]] = []
    for name, kind in kinds.items():
        shape = getattr(kind, "_shape_", ())
        indices = [f"[{', '.join(map(str, i))}]" for i in np.ndindex(*shape)] if shape else [""]
        places += [(name, name + index, len(places) + k) for k, index in enumerate(indices)]
    return places


def _store(kinds: dict[str, Any], at: str) -> list[ast.stmt]:
    lines = [f"{STATES}[{THREAD}, {at} + {place}] = _wp.float64({text})" for _, text, place in _places(kinds)]
    return statements("\n".join(lines))


def _load(kinds: dict[str, Any], at: str) -> list[ast.stmt]:
    lines: list[str] = []
    for name, kind in kinds.items():
        scalar = f"_wp.{_scalar(kind).__name__}"
        parts = [f"{scalar}({STATES}[{THREAD}, {at} + {p}])" for n, _, p in _places(kinds) if n == name]
        lines.append(f"{name} = {parts[0]}" if _scalar(kind) is kind else f"{name} = _kind_{name}({', '.join(parts)})")
    return statements("\n".join(lines))
