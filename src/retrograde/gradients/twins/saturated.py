"""Arc functions evaluated exactly at one: Warp sends nothing back from there, whatever the derivative around it is."""

from __future__ import annotations

import ast
from typing import Any

from retrograde.gradients.twins.parameters import NOTES, ROWS, THREAD
from retrograde.gradients.twins.rewrite import Edit, Rewrite, make_twin
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.trace.warp_api import wp

_AT_ONE = frozenset({"acos", "asin"})


def find_saturated(situation: Situation) -> list[Rewrite]:
    """Calls that some thread made at one or minus one; no twin can cure them, the digits are gone."""
    sites = [
        (piece, node)
        for piece in situation.source.all()
        for node in ast.walk(piece.tree)
        if isinstance(node, ast.Call) and piece.builtin(node) in _AT_ONE
    ][:ROWS]
    if not sites:
        return []
    watched = [
        Rewrite(
            code="RG409",
            source=piece,
            line=node.lineno,
            subject="",
            edits={number_of(node): _watched(f"_watch_{row}")},
            advice="",
            scope={f"_watch_{row}": _watch(row)},
            parameters=frozenset({NOTES, THREAD}),
        )
        for row, (piece, node) in enumerate(sites)
    ]
    notes = situation.notes(make_twin(situation.source, watched, situation.dimensions))
    return [_found(piece, node, notes[row]) for row, (piece, node) in enumerate(sites) if notes[row, 0] > 0.0]


def _watched(name: str) -> Edit:
    def edit(node: ast.Call) -> ast.Call:
        further = [ast.Name(THREAD, ast.Load()), ast.Name(NOTES, ast.Load())]
        node.args = [ast.Call(ast.Name(name, ast.Load()), [*node.args, *further], [])]
        return node

    return edit


def _watch(row: int) -> Any:
    place = wp.constant(row)

    def at_one(x: Any, thread: Any, notes: Any) -> Any:
        if wp.abs(wp.float64(x)) >= wp.float64(1.0):
            wp.atomic_add(notes, place, 0, wp.float64(1.0))
            notes[place, 1] = wp.float64(thread)
            notes[place, 2] = wp.float64(x)
        return x

    at_one.__annotations__ = {"x": Any, "thread": wp.int32, "notes": wp.array(dtype=wp.float64, ndim=2)}
    return wp.Function(
        func=at_one, key=f"watch_{row}", namespace="", module=wp.Module("watch", None), value_func=None, scope_locals={}
    )


def _found(piece: FunctionSource, node: ast.Call, note: Any) -> Rewrite:
    return Rewrite(
        code="RG409",
        source=piece,
        line=node.lineno,
        subject=(
            f"{ast.unparse(node)} is evaluated at {note[2]:.9g} by {int(note[0])} threads (thread {int(note[1])}, for "
            f"one), where Warp passes no gradient on; the argument is that close to one that its digits do not show it"
        ),
        edits={},
        advice="Compute the angle by wp.atan2 of a cross and a dot product, which keeps its digits near zero.",
        patch=False,
        evidence={"thread": int(note[1]), "threads": int(note[0]), "value": float(note[2])},
    )
