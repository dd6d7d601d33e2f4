"""Indices taken from an atomic counter: the backward pass takes them again, or not at all.

The twin keeps what the forward pass got, one number a thread and a place, and replays that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from retrograde.gradients.twins.functions import define
from retrograde.gradients.twins.parameters import KEPT, PLACES, THREAD
from retrograde.gradients.twins.rewrite import Edit, Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, KernelSource, Role, number_of
from retrograde.gradients.twins.types import types_of
from retrograde.trace.warp_api import wp

_INTEGERS = (wp.int8, wp.int16, wp.int32, wp.int64, wp.uint8, wp.uint16, wp.uint32, wp.uint64)


def find_counters(situation: Situation) -> list[Rewrite]:
    """One rewrite for each call that counts and returns an index: in backward it returns the index again."""
    source = situation.source
    pieces = [p for p in source.all() if p.role in (Role.FUNCTION, Role.KERNEL)]
    calls = [(p, c) for p in pieces for c in _counting(source, p)]
    calls = calls[:PLACES]
    types = types_of(source, [(p, number_of(c)) for p, c in calls])
    found: list[Rewrite] = []
    for place, (piece, call) in enumerate(calls):
        returned = types[piece, number_of(call)]
        if len(returned) == 1 and returned[0] in _INTEGERS:
            found.append(_recorded(source, piece, call, place, returned[0]))
    return found


def _counting(source: KernelSource, piece: FunctionSource) -> Iterator[ast.Call]:
    """Calls with a result that is used, of atomic built-ins or of functions that make such calls."""
    dropped = {id(n.value) for n in ast.walk(piece.tree) if isinstance(n, ast.Expr)}
    inside = piece.role is Role.FUNCTION
    for node in ast.walk(piece.tree):
        if not isinstance(node, ast.Call) or id(node) in dropped or node.keywords:
            continue
        direct = not inside and (piece.builtin(node) or "").startswith("atomic_")
        if direct or any(_counts(s) for s in _called(source, piece, node)):
            yield node


def _called(source: KernelSource, piece: FunctionSource, call: ast.Call) -> tuple[FunctionSource, ...]:
    for reference in piece.references:
        if reference.node is call.func:
            return source.overloads(reference.function)
    return ()


def _counts(piece: FunctionSource) -> bool:
    dropped = {id(n.value) for n in ast.walk(piece.tree) if isinstance(n, ast.Expr)}
    return piece.replay is None and any(
        isinstance(n, ast.Call) and id(n) not in dropped and (piece.builtin(n) or "").startswith("atomic_")
        for n in ast.walk(piece.tree)
    )


def _recorded(source: KernelSource, piece: FunctionSource, call: ast.Call, place: int, returned: Any) -> Rewrite:
    name = f"_recorded_{place}"
    return Rewrite(
        code="RG406",
        source=piece,
        line=call.lineno,
        subject=f"{ast.unparse(call)} counts, and returns an index that backward does not get again",
        edits={number_of(call): _through(name)},
        advice=(
            "Store the index in the forward pass, and give the function that counts a @wp.func_replay which returns "
            "the stored one."
        ),
        scope={name: _recorder(name, place, returned)},
        parameters=frozenset({KEPT, THREAD}),
        patch=False,
    )


def _through(name: str) -> Edit:
    def edit(node: ast.Call) -> ast.Call:
        further = [ast.Name(THREAD, ast.Load()), ast.Name(KEPT, ast.Load())]
        return ast.Call(ast.Name(name, ast.Load()), [node, *further], [])

    return edit


def _recorder(name: str, place: int, returned: Any) -> Any:
    """A function that keeps an index in the forward pass, and gives it back in the replay."""
    text = (
        f"def {name}(index, {THREAD}, {KEPT}):\n"
        f"    {KEPT}[{THREAD}, {place}] = _wp.float64(index)\n"
        f"    return index\n\n\n"
        f"def replay_{name}(index, {THREAD}, {KEPT}):\n"
        f"    return _wp.{returned.__name__}({KEPT}[{THREAD}, {place}])\n\n\n"
        f"def adj_{name}(index, {THREAD}, {KEPT}, adj_ret):\n"
        f"    pass\n"
    )
    return define(name, text, {"index": returned}, returned, (THREAD, KEPT))
