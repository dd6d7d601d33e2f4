"""Built-ins evaluated where their derivative is not finite.

Each is called through a function of ours whose custom adjoint is Warp's own, but for one thing: where a finite
cotangent would become a non-finite one, nothing is sent back, and it is noted that this is where it began. What only
passes on a cotangent that is not finite already is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.twins.functions import define
from retrograde.gradients.twins.parameters import NOTES, ROWS, THREAD
from retrograde.gradients.twins.rewrite import Edit, Rewrite, make_twin
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.gradients.twins.types import types_of
from retrograde.trace.warp_api import wp

_ADVICE = {
    "sqrt": "Keep the argument of the root away from zero (add a small number, or use wp.length, whose adjoint is "
    "guarded), or use the square itself.",
    "div": "Keep the divisor away from zero, or branch before dividing.",
    "pow": "Keep the base away from zero, or write the power as a product.",
    "acos": "Keep the argument away from one (clamp it short of it), or use wp.atan2.",
    "asin": "Keep the argument away from one (clamp it short of it), or use wp.atan2.",
}
_OTHERS = (
    "cbrt",
    "log",
    "log2",
    "log10",
    "exp",
    "tan",
    "atan2",
    "sinh",
    "cosh",
    "erfinv",
    "erfcinv",
    "length",
    "normalize",
)
_SINGULAR = frozenset((*_ADVICE, *_OTHERS))
_OPERATORS: dict[type[ast.operator], str] = {ast.Div: "div", ast.Pow: "pow"}


@dataclass(frozen=True, eq=False)
class _Site:
    """A built-in with its operands.

    Attributes:
        builtin: Its name.
        operands: Numbers of the nodes of its operands.
        kinds: Types of the operands.
    """

    piece: FunctionSource
    node: ast.expr
    builtin: str
    operands: tuple[int, ...]
    kinds: tuple[Any, ...] = ()


def find_singular(situation: Situation) -> list[Rewrite]:
    """One rewrite for each built-in that made a finite cotangent non-finite."""
    if situation.finite:
        return []
    sites = _typed(situation, [s for piece in situation.source.all() for s in _sites(piece)])[:ROWS]
    guards = [_guard(site, row) for row, site in enumerate(sites)]
    if not guards:
        return []
    notes = situation.backward_notes(make_twin(situation.source, guards, situation.dimensions))
    return [
        _producer(situation, site, guard, notes[row])
        for row, (site, guard) in enumerate(zip(sites, guards, strict=True))
        if notes[row, 0] > 0.0
    ]


def _sites(piece: FunctionSource) -> list[_Site]:
    found: list[_Site] = []
    for node in ast.walk(piece.tree):
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            operands = (number_of(node.left), number_of(node.right))
            found.append(_Site(piece, node, _OPERATORS[type(node.op)], operands))
        elif isinstance(node, ast.Call) and not node.keywords and node.args:
            name = piece.builtin(node)
            if name in _SINGULAR:
                found.append(_Site(piece, node, name, tuple(number_of(a) for a in node.args)))
    return found


def _typed(situation: Situation, sites: Sequence[_Site]) -> list[_Site]:
    """Sites whose operands are scalars of one floating type; numbers written out take the type of the others."""
    wanted = {(s.piece, operand) for s in sites for operand in s.operands}
    types = types_of(situation.source, wanted)
    found: list[_Site] = []
    for site in sites:
        kinds = {k for operand in site.operands for k in types[site.piece, operand]}
        if len(kinds) == 1 and (kind := kinds.pop()) in (wp.float16, wp.float32, wp.float64):
            found.append(_Site(site.piece, site.node, site.builtin, site.operands, (kind,) * len(site.operands)))
    return found


def _guard(site: _Site, row: int) -> Rewrite:
    name = f"_guard_{row}"
    return Rewrite(
        code="RG409",
        source=site.piece,
        line=site.node.lineno,
        subject=ast.unparse(site.node),
        edits={number_of(site.node): _through(name)},
        advice=_ADVICE.get(site.builtin, "Keep the argument away from this point, or branch before it."),
        scope={name: _guarded(site, name, row)},
        parameters=frozenset({NOTES, THREAD}),
        patch=False,
    )


def _through(name: str) -> Edit:
    def edit(node: Any) -> ast.expr:
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else list(node.args)
        further = [ast.Name(THREAD, ast.Load()), ast.Name(NOTES, ast.Load())]
        return ast.Call(ast.Name(name, ast.Load()), [*operands, *further], [])

    return edit


def _guarded(site: _Site, name: str, row: int) -> Any:
    """The built-in as a function of ours."""
    inputs = [f"x{k}" for k in range(len(site.operands))]
    partials = [f"d{k}" for k in range(len(site.operands))]
    kept = "".join(
        f"    c{k} = d{k} * adj_ret\n"
        f"    if _wp.isfinite(adj_ret) and not _wp.isfinite(c{k}):\n"
        f"        bad = _wp.int32(1)\n"
        f"    else:\n"
        f"        _wp.adjoint[x{k}] += c{k}\n"
        for k in range(len(inputs))
    )
    values = "".join(f"            {NOTES}[{row}, {3 + k}] = _wp.float64(x{k})\n" for k in range(len(inputs)))
    arguments = ", ".join([*inputs, THREAD, NOTES])
    text = (
        f"def {name}({arguments}):\n"
        f"    return _wp.{site.builtin}({', '.join(inputs)})\n\n\n"
        f"def adj_{name}({arguments}, adj_ret):\n"
        f"    bad = _wp.int32(0)\n"
        f"    {', '.join(partials)} = _wp.grad(_wp.{site.builtin})({', '.join(inputs)})\n"
        f"{kept}"
        f"    if bad > _wp.int32(0):\n"
        f"        if _wp.atomic_add({NOTES}, {row}, 0, _wp.float64(1.0)) == _wp.float64(0.0):\n"
        f"            {NOTES}[{row}, 1] = _wp.float64({THREAD})\n"
        f"            {NOTES}[{row}, 2] = _wp.float64(adj_ret)\n"
        f"{values}"
    )
    return define(name, text, dict(zip(inputs, site.kinds, strict=True)), site.kinds[0], (THREAD, NOTES))


def _producer(situation: Situation, site: _Site, guard: Rewrite, note: npt.NDArray[np.float64]) -> Rewrite:
    values = [float(v) for v in note[3 : 3 + len(site.operands)]]
    shown = ", ".join(f"{v:.9g}" for v in values)
    elements = ", ".join(situation.broken[:3]) + (", ..." if len(situation.broken) > 3 else "")
    lost = f"; the gradient of {elements} is lost" if elements else ""
    return Rewrite(
        code=guard.code,
        source=guard.source,
        line=guard.line,
        subject=(
            f"{ast.unparse(site.node)} is evaluated at {shown} (thread {int(note[1])}), where the derivative of "
            f"{site.builtin} is not finite{lost}"
        ),
        edits=guard.edits,
        advice=guard.advice,
        scope=guard.scope,
        parameters=guard.parameters,
        patch=False,
        evidence={"thread": int(note[1]), "threads": int(note[0]), "cotangent": float(note[2]), "values": values},
    )
