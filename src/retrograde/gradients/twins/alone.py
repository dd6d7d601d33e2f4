"""A function with a custom adjoint, compared alone with differences of its forward at the values that ran."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.twins.compile import quietly
from retrograde.gradients.twins.functions import define
from retrograde.gradients.twins.natives import own_types
from retrograde.gradients.twins.parameters import COLUMNS, NOTES, ROWS
from retrograde.gradients.twins.rewrite import Edit, Rewrite, make_twin, statements
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource, Role, number_of
from retrograde.trace.warp_api import wp

Float = npt.NDArray[np.float64]

_FLOATS = (wp.float16, wp.float32, wp.float64)
_INTEGERS = (wp.int8, wp.int16, wp.int32, wp.int64, wp.uint8, wp.uint16, wp.uint32, wp.uint64)
_SAMPLES = ROWS - 1
_CLOSE = 0.02


@dataclass(frozen=True)
class Comparison:
    """What the custom adjoint says of one argument, beside differences.

    Attributes:
        argument: Its name.
        wrong: How many of the values that ran have a wrong derivative.
        values: How many values were compared.
        verdict: What is wrong, in words; empty where nothing is.
    """

    argument: str
    wrong: int
    values: int
    verdict: str


def compare_alone(situation: Situation, piece: FunctionSource) -> tuple[Comparison, ...]:
    """Compare a function's custom adjoint, argument by argument.

    Args:
        situation: A launch that calls the function.
        piece: The function; its arguments must be numbers and vectors of them, and it must return one of these.

    Returns:
        One comparison for each floating argument; none where the function cannot be called alone.
    """
    types = {n: t for n, t in piece.types.items() if n != "return"}
    returned = _returned(piece, len(types))
    if returned is None or not all(_is_plain(t) for t in types.values()):
        return ()
    samples = _values_that_ran(situation, piece, types)
    if samples is None:
        return ()
    run = _Alone(piece, list(types.values()), returned, situation.call.device)
    return tuple(
        _judge(name, *run.compare(samples, position))
        for position, (name, kind) in enumerate(types.items())
        if _scalar(kind) in _FLOATS
    )


def _returned(piece: FunctionSource, inputs: int) -> Any:
    """Type of the one value that the function returns, None where it returns something else."""
    if piece.role is Role.NATIVE:
        known = own_types(piece)
        return None if known is None else known[1]
    if piece.gradient is None:
        return None
    outputs = [t for n, t in piece.gradient.types.items() if n != "return"][inputs:]
    return outputs[0] if len(outputs) == 1 and _is_plain(outputs[0]) else None


def _is_plain(kind: Any) -> bool:
    return _scalar(kind) in (*_FLOATS, *_INTEGERS)


def _scalar(kind: Any) -> Any:
    known = {float: wp.float32, int: wp.int32}
    return getattr(kind, "_wp_scalar_type_", known.get(kind, kind))


def _width(kind: Any) -> int:
    return int(np.prod(getattr(kind, "_shape_", (1,))))


# -- the values that ran -------------------------------------------------------------------------------


def _values_that_ran(situation: Situation, piece: FunctionSource, types: dict[str, Any]) -> list[Float] | None:
    """Arguments of the first calls, one array an argument."""
    columns: list[str] = []
    for name, kind in types.items():
        shape = getattr(kind, "_shape_", ())
        indices = [f"[{', '.join(map(str, i))}]" for i in np.ndindex(*shape)] if shape else [""]
        columns += [f"{name}{index}" for index in indices]
    if len(columns) > COLUMNS:
        return None
    if piece.role is Role.NATIVE:
        columns = [f"x{k}{c.removeprefix(n)}" for k, n in enumerate(types) for c in columns if c.split("[")[0] == n]
    keep = "\n".join(f"    {NOTES}[_slot + 1, {c}] = _wp.float64({text})" for c, text in enumerate(columns))
    prologue = f"_slot = _wp.int32(_wp.atomic_add({NOTES}, 0, 0, _wp.float64(1.0)))\nif _slot < {_SAMPLES}:\n{keep}"
    watch = (_watched_native if piece.role is Role.NATIVE else _watched)(situation, piece, prologue)
    notes = situation.notes(make_twin(situation.source, [watch], situation.dimensions))
    count = min(int(notes[0, 0]), _SAMPLES)
    if count == 0:
        return None
    values: list[Float] = []
    start = 0
    for kind in types.values():
        values.append(notes[1 : count + 1, start : start + _width(kind)])
        start += _width(kind)
    return values


def _watched(_: Situation, piece: FunctionSource, prologue: str) -> Rewrite:
    """The function with something done before it."""
    first = piece.tree.body[0]

    def edit(node: ast.stmt) -> list[ast.stmt]:
        return [*statements(prologue), node]

    return Rewrite("", piece, first.lineno, "", {number_of(first): edit}, "", parameters=frozenset({NOTES}))


def _watched_native(situation: Situation, piece: FunctionSource, prologue: str) -> Rewrite:
    """The same for native code, by another function that is called in its place."""
    known = own_types(piece)
    assert known is not None
    names = [f"x{k}" for k in range(len(known[0]))]
    arguments = ", ".join(names)
    text = f"def _watched({arguments}, {NOTES}):\n{indent(prologue, '    ')}\n    return _call({arguments})\n"
    types = dict(zip(names, known[0].values(), strict=True))
    function = define("_watched", text, types, known[1], (NOTES,), {"_call": piece.function})

    def edit(call: ast.Call) -> ast.Call:
        return ast.Call(ast.Name("_watched", ast.Load()), [*call.args, ast.Name(NOTES, ast.Load())], call.keywords)

    elsewhere: dict[FunctionSource, dict[int, Edit]] = {}
    for caller in situation.source.all():
        named = {id(r.node) for r in caller.references if r.function is piece.function}
        for node in ast.walk(caller.tree):
            if isinstance(node, ast.Call) and id(node.func) in named:
                elsewhere.setdefault(caller, {})[number_of(node)] = edit
    scope = {"_watched": function}
    return Rewrite("", piece, 0, "", {}, "", scope=scope, elsewhere=elsewhere, parameters=frozenset({NOTES}))


# -- the function alone --------------------------------------------------------------------------------


class _Alone:
    """A kernel that does nothing but call the function."""

    def __init__(self, piece: FunctionSource, types: Sequence[Any], returned: Any, device: str) -> None:
        self.types = [*types, returned]
        self.device = device
        names = [f"x{k}" for k in range(len(types))]
        calls = ", ".join(f"{name}[i]" for name in names)
        text = f"def alone({', '.join([*names, 'out'])}):\n    i = _wp.tid()\n    out[i] = function({calls})\n"
        file = f"<{piece.name} alone>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        scope: dict[str, Any] = {"_wp": wp, "function": piece.function, "__name__": "alone"}
        exec(compile(text, file, "exec"), scope)
        kinds = dict(zip([*names, "out"], (wp.array(dtype=t) for t in self.types), strict=True))
        scope["alone"].__annotations__ = kinds
        module = wp.Module(f"alone_{piece.name}_{id(self)}", None)
        self.kernel = wp.Kernel(func=scope["alone"], key="alone", module=module)

    def compare(self, samples: Sequence[Float], position: int) -> tuple[Float, Float, Float, Float]:
        """Derivative by one argument: the adjoint's, the differences', their error, and the values of the argument."""
        count, width = samples[position].shape
        seed = np.random.default_rng(0).uniform(0.5, 1.5, (count, _width(self.types[-1])))
        adjoint = self._adjoint(samples, position, seed)
        resolution = float(np.finfo(np.dtype(wp.dtype_to_numpy(_scalar(self.types[position])))).eps)
        measured, error = np.zeros((count, width)), np.zeros((count, width))
        for column in range(width):
            scale = np.maximum(np.abs(samples[position][:, column]), 0.05)
            coarse, _ = self._slope(samples, position, column, seed, scale * resolution ** (1 / 4))
            fine, noise = self._slope(samples, position, column, seed, 0.5 * scale * resolution ** (1 / 4))
            measured[:, column] = (4.0 * fine - coarse) / 3.0
            error[:, column] = np.abs(fine - coarse) + noise * resolution
        return adjoint, measured, error, samples[position]

    def _slope(
        self, samples: Sequence[Float], position: int, column: int, seed: Float, step: Float
    ) -> tuple[Float, Float]:
        values: list[Float] = []
        for sign in (1.0, -1.0):
            moved = [s.copy() for s in samples]
            moved[position][:, column] += sign * step
            values.append((self._forward(moved) * seed).sum(axis=1))
        return (values[0] - values[1]) / (2.0 * step), 8.0 * np.abs(values).max(axis=0) / step

    def _arrays(self, samples: Sequence[Float]) -> list[Any]:
        arrays: list[Any] = []
        for values, kind in zip(samples, self.types, strict=False):
            shape = getattr(kind, "_shape_", ())
            host = values.reshape(len(values), *shape) if shape else values[:, 0]
            scalar = wp.dtype_to_numpy(_scalar(kind))
            differentiable = _scalar(kind) in _FLOATS
            arrays.append(wp.array(host.astype(scalar), dtype=kind, device=self.device, requires_grad=differentiable))
        return arrays

    def _forward(self, samples: Sequence[Float]) -> Float:
        out = wp.zeros(len(samples[0]), dtype=self.types[-1], device=self.device)
        with quietly():
            inputs = [*self._arrays(samples), out]
            wp.launch(self.kernel, len(samples[0]), inputs=inputs, device=self.device, record_tape=False)
        return out.numpy().astype(np.float64).reshape(len(samples[0]), -1)

    def _adjoint(self, samples: Sequence[Float], position: int, seed: Float) -> Float:
        arrays = self._arrays(samples)
        (out,) = self._arrays_of(seed)
        (given,) = self._arrays_of(seed)
        with quietly():
            wp.launch(
                self.kernel,
                len(seed),
                inputs=[*arrays, out],
                adj_inputs=[*(a.grad for a in arrays), given],
                adjoint=True,
                device=self.device,
                record_tape=False,
            )
        return arrays[position].grad.numpy().astype(np.float64).reshape(len(seed), -1)

    def _arrays_of(self, seed: Float) -> list[Any]:
        kind = self.types[-1]
        shape = getattr(kind, "_shape_", ())
        host = seed.reshape(len(seed), *shape) if shape else seed[:, 0]
        scalar = wp.dtype_to_numpy(_scalar(kind))
        return [wp.array(host.astype(scalar), dtype=kind, device=self.device)]


# -- what is wrong -------------------------------------------------------------------------------------


def _judge(name: str, adjoint: Float, measured: Float, error: Float, values: Float) -> Comparison:
    size = np.abs(measured).max(initial=0.0)
    reach = 4.0 * error + 0.01 * np.abs(measured) + 1e-4 * size
    wrong = ~(np.abs(adjoint - measured) <= reach)
    telling = np.abs(measured) > 0.01 * size
    rows = wrong.any(axis=1)
    total = len(values)
    if not rows.any():
        return Comparison(name, 0, total, "")
    where = int(np.argmax(rows))
    example = ", ".join(f"{v:.6g}" for v in values[where])
    verdict = in_words(adjoint[wrong & telling], measured[wrong & telling])
    if 0 < rows.sum() < (telling.any(axis=1)).sum():
        verdict += f" at {int(rows.sum())} of {total} values, as at {name} = {example}"
    return Comparison(name, int(rows.sum()), total, verdict)


def in_words(adjoint: Float, measured: Float) -> str:
    """What is wrong with derivatives, beside those that were measured."""
    if adjoint.size == 0:
        return "is not the derivative"
    if not adjoint.any():
        return "is missing"
    ratio = adjoint / measured
    middle = float(np.median(ratio))
    if np.all(np.abs(ratio - middle) <= _CLOSE * abs(middle)):
        if abs(middle + 1.0) <= _CLOSE:
            return "has the opposite sign"
        return f"is off by a factor of {middle:.3g}"
    return f"is not the derivative ({adjoint[0]:.6g} for {measured[0]:.6g}, for one)"
