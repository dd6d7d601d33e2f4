"""Built-ins whose adjoint does not exist, or passes nothing on by some operand."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from retrograde.gradients.twins.builtins import differenced, lacks_adjoint
from retrograde.gradients.twins.rewrite import Edit, Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, number_of
from retrograde.gradients.twins.types import types_of
from retrograde.trace.warp_api import context, wp

_REALS = (wp.float16, wp.float32, wp.float64)
_OPERATORS: dict[type[ast.operator], str] = {ast.Mod: "mod"}
_QUERIES = ("mesh_query_point", "mesh_query_ray")
_BY_ID = (*_QUERIES, "mesh_eval_", "volume_sample")
_OPAQUE = ("mesh_get_point", "mesh_get_velocity", "mesh_eval_face_normal", "volume_lookup", "tile_")
_ADVICE = "Write it with operations that have adjoints, or as a @wp.func with a @wp.func_grad of its own."


@dataclass(frozen=True, eq=False)
class _Site:
    piece: FunctionSource
    node: Any
    builtin: str
    operands: tuple[ast.expr, ...]


def find_adjoint_free(situation: Situation) -> list[Rewrite]:
    """One rewrite for each call of a built-in of real numbers whose adjoint, tried alone, is not its derivative.

    In its place comes a function whose adjoint is made of the built-in's differences.
    """
    sites = [s for piece in situation.source.all() for s in _sites(piece)]
    return list(_replaced(situation, [s for s in sites if lacks_adjoint(s.builtin, len(s.operands))]))


def find_opaque(situation: Situation) -> list[Rewrite]:
    """Calls of built-ins that reach into an object by its id, or have no adjoint by their own account.

    No twin can cure them. A query is named only where nothing evaluates what it found.
    """
    sites = [s for piece in situation.source.all() for s in _sites(piece) if _is_opaque(s.builtin)]
    evaluating = [s for s in sites if not s.builtin.startswith(_QUERIES)]
    return [_named(s) for s in evaluating or sites]


def _sites(piece: FunctionSource) -> Iterator[_Site]:
    for node in ast.walk(piece.tree):
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            yield _Site(piece, node, _OPERATORS[type(node.op)], (node.left, node.right))
        elif isinstance(node, ast.Call) and not node.keywords and node.args:
            name = piece.builtin(node)
            if name:
                yield _Site(piece, node, name, tuple(node.args))


def _replaced(situation: Situation, sites: Sequence[_Site]) -> Iterator[Rewrite]:
    wanted = {(s.piece, number_of(o)) for s in sites for o in s.operands}
    types = types_of(situation.source, wanted)
    for count, site in enumerate(sites):
        kinds = {k for o in site.operands for k in types[site.piece, number_of(o)]}
        if len(kinds) != 1 or (kind := next(iter(kinds))) not in _REALS:
            continue
        name = f"_differenced_{site.builtin}_{count}"
        yield Rewrite(
            code="RG206",
            source=site.piece,
            line=site.node.lineno,
            subject=f"{ast.unparse(site.node)}: Warp's adjoint of {site.builtin} is not its derivative",
            edits={number_of(site.node): _call(name)},
            advice=_ADVICE,
            scope={name: differenced(site.builtin, (kind,) * len(site.operands), name)},
            patch=False,
            evidence={"builtin": site.builtin},
        )


def _call(name: str) -> Edit:
    def edit(node: Any) -> ast.expr:
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else list(node.args)
        return ast.Call(ast.Name(name, ast.Load()), operands, [])

    return edit


def _is_opaque(name: str) -> bool:
    """Whether a built-in passes no gradient on to what an id leads to, or none at all, although its value is real."""
    if name.startswith(_BY_ID):
        return True
    return name.startswith(_OPAQUE) and not context.builtin_functions[name].is_differentiable


def _named(site: _Site) -> Rewrite:
    return Rewrite(
        code="RG206",
        source=site.piece,
        line=site.node.lineno,
        subject=f"{ast.unparse(site.node)}: {site.builtin} passes no gradient on to what it reads",
        edits={},
        advice=_ADVICE,
        patch=False,
        evidence={"builtin": site.builtin},
    )
