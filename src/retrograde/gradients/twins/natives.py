"""Native functions, with an adjoint snippet of their own or without any."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from retrograde.gradients.twins.functions import define
from retrograde.gradients.twins.rewrite import Edit, Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, KernelSource, Role, number_of
from retrograde.trace.warp_api import wp

_FLOATS = (wp.float16, wp.float32, wp.float64)
_INTEGERS = (wp.int8, wp.int16, wp.int32, wp.int64, wp.uint8, wp.uint16, wp.uint32, wp.uint64)
_KNOWN = {float: wp.float32, int: wp.int32}
_STEP = 2.0**-5


def find_natives(situation: Situation) -> list[Rewrite]:
    """Native functions that the kernel reaches and that have no adjoint snippet."""
    return [_without_adjoint(p) for p in _natives(situation.source) if p.owner.adj_native_snippet is None]


def find_native_adjoints(situation: Situation) -> list[Rewrite]:
    """One rewrite for each native function of numbers and vectors: an adjoint made of its differences."""
    found: list[Rewrite] = []
    for count, piece in enumerate(_natives(situation.source)):
        types = own_types(piece)
        if types is None or len(situation.source.overloads(piece.function)) > 1:
            continue
        name = f"_differenced_native_{count}"
        own = piece.owner.adj_native_snippet is not None
        base = _with_adjoint(piece) if own else _without_adjoint(piece)
        found.append(
            Rewrite(
                code=base.code,
                source=piece,
                line=base.line,
                subject=base.subject,
                edits={},
                elsewhere=at_calls(situation.source, piece, lambda _, name=name: ast.Name(name, ast.Load())),
                advice=base.advice,
                scope={name: _differenced(piece, name, *types)},
                patch=False,
            )
        )
    return found


def own_types(piece: FunctionSource) -> tuple[Mapping[str, Any], Any] | None:
    """Types of a native function's arguments, and of what it returns; None where not all are numbers or vectors."""
    types = {n: _KNOWN.get(t, t) for n, t in piece.types.items()}
    returned = types.pop("return", None)
    if returned is None or _scalar(returned) not in _FLOATS or not types:
        return None
    plain = all(_scalar(t) in (*_FLOATS, *_INTEGERS) for t in types.values())
    flat = all(len(getattr(t, "_shape_", ())) < 2 for t in (*types.values(), returned))
    return (types, returned) if plain and flat else None


def at_calls(source: KernelSource, piece: FunctionSource, edit: Edit) -> dict[FunctionSource, dict[int, Edit]]:
    """An edit of every expression that names a function."""
    found: dict[FunctionSource, dict[int, Edit]] = {}
    for caller in source.all():
        if caller.role in (Role.KERNEL, Role.FUNCTION):
            for reference in caller.references:
                if reference.function is piece.function:
                    found.setdefault(caller, {})[number_of(reference.node)] = edit
    return found


def _natives(source: KernelSource) -> list[FunctionSource]:
    return [p for p in source.functions if p.role is Role.NATIVE]


def _without_adjoint(piece: FunctionSource) -> Rewrite:
    return Rewrite(
        code="RG407",
        source=piece,
        line=piece.tree.lineno,
        subject=f"{piece.name} is native code without an adjoint, so no gradient passes through it",
        edits={},
        advice=f"Give {piece.name} an adj_snippet, or write it in Python.",
        patch=False,
    )


def _with_adjoint(piece: FunctionSource) -> Rewrite:
    return Rewrite(
        code="RG404",
        source=piece,
        line=piece.tree.lineno,
        subject=f"The adjoint snippet of {piece.name}",
        edits={},
        advice=f"Correct the adj_snippet of {piece.name}, or write the function in Python.",
        patch=False,
    )


def _scalar(kind: Any) -> Any:
    return getattr(kind, "_wp_scalar_type_", kind)


# -- differences ---------------------------------------------------------------------------------------


def _differenced(piece: FunctionSource, name: str, types: Mapping[str, Any], returned: Any) -> Any:
    """The function with an adjoint made of central differences of fourth order, in the function's own precision."""
    names = [f"x{k}" for k in range(len(types))]
    kinds = dict(zip(names, types.values(), strict=True))
    lines: list[str] = []
    for name_of, kind in kinds.items():
        if _scalar(kind) in _FLOATS:
            lines += _slopes(name_of, kind, names, returned)
    arguments = ", ".join(names)
    text = (
        f"def {name}({arguments}):\n    return _call({arguments})\n\n\n"
        f"def adj_{name}({arguments}, adj_ret):\n" + "".join(f"    {line}\n" for line in lines or ["pass"])
    )
    known = {"_call": piece.function} | {f"_kind_{n}": k for n, k in kinds.items()}
    return define(name, text, kinds, returned, known=known)


def _slopes(name: str, kind: Any, names: Sequence[str], returned: Any) -> list[str]:
    """Statements that add the adjoint of one argument."""
    scalar, result = f"_wp.{_scalar(kind).__name__}", f"_wp.{_scalar(returned).__name__}"
    width = kind._shape_[0] if hasattr(kind, "_shape_") else 0
    lines: list[str] = []
    for place in range(width or 1):
        component = f"{name}[{place}]" if width else name
        tag = f"{name}_{place}"
        lines.append(f"h_{tag} = {scalar}({_STEP}) * ({scalar}(1.0) + _wp.abs({component}))")
        for side, turns in (("a", 1.0), ("b", -1.0), ("c", 2.0), ("d", -2.0)):
            moved = f"{component} + {scalar}({turns}) * h_{tag}"
            if width:
                parts = [moved if k == place else f"{name}[{k}]" for k in range(width)]
                moved = f"_kind_{name}({', '.join(parts)})"
            lines.append(f"{side}_{tag} = _call({', '.join(moved if n == name else n for n in names)})")
        change = f"{result}(8.0) * (a_{tag} - b_{tag}) - (c_{tag} - d_{tag})"
        weighed = f"_wp.dot({change}, adj_ret)" if hasattr(returned, "_shape_") else f"({change}) * adj_ret"
        lines.append(f"g_{tag} = {scalar}({weighed}) / ({scalar}(12.0) * h_{tag})")
    total = f"_kind_{name}({', '.join(f'g_{name}_{k}' for k in range(width))})" if width else f"g_{name}_0"
    return [*lines, f"_wp.adjoint[{name}] += {total}"]
