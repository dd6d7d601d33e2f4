"""Arguments that a twin has beside those of the original, handed on to the functions that need them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.twins.compile import TwinError
from retrograde.gradients.twins.source import FunctionSource, KernelSource, Role, number_of
from retrograde.trace.operations import LaunchCall
from retrograde.trace.warp_api import wp

NOTES = "_notes"
"""An array that the twin writes observations to: `_notes[row, column]`, double precision, zero at first."""
THREAD = "_thread"
"""The number of the thread, counted through all dimensions of the launch."""
KEPT = "_kept"
"""An array that the twin keeps numbers in: `_kept[thread, place]`, double precision."""
STATES = "_states"
"""An array with a gradient that the twin stores what loops carry in: `_states[thread, column]`, double precision."""
BASE = "_base"
"""The number of the call of a function within its thread; for functions only, and handed over by their callers."""
EXTENT = "_extent"
"""The number of threads in each dimension of the launch; for the kernel only."""
ROWS, COLUMNS, PLACES = 256, 16, 16


@dataclass(frozen=True)
class Parameters:
    """What a twin is handed beside the original's arguments.

    Attributes:
        names: Of `NOTES`, `KEPT`, `STATES`, `THREAD`, `BASE` and `EXTENT`.
        dimensions: Number of dimensions of the launch.
        columns: Columns of the array of states.
    """

    names: frozenset[str] = frozenset()
    dimensions: int = 1
    columns: int = 1

    @property
    def types(self) -> dict[str, Any]:
        """Types of the functions' further arguments, in order."""
        array = wp.array(dtype=wp.float64, ndim=2)
        kinds = {NOTES: array, KEPT: array, STATES: array, THREAD: wp.int32, BASE: wp.int32}
        return {n: t for n, t in kinds.items() if n in self.names}

    @property
    def kernel_types(self) -> dict[str, Any]:
        """Types of the kernel's further arguments, in order."""
        types = {n: t for n, t in self.types.items() if n not in (THREAD, BASE)}
        if self.names & {THREAD, EXTENT}:
            types[EXTENT] = wp.types.vector(4, wp.int32)
        return types

    def values(self, call: LaunchCall) -> list[Any]:
        """Fresh values of the kernel's further arguments for one launch."""
        extent = extent_of(call)
        threads = int(np.prod(extent))
        shapes = {NOTES: (ROWS, COLUMNS), KEPT: (threads, PLACES), STATES: (threads, self.columns)}
        values: list[Any] = []
        for name, kind in self.kernel_types.items():
            if name in shapes:
                array = wp.zeros(shapes[name], dtype=wp.float64, device=call.device, requires_grad=name == STATES)
                values.append(array)
            else:
                values.append(kind(*[*extent, 1, 1, 1, 1][:4]))
        return values

    @staticmethod
    def notes(values: Iterable[Any]) -> npt.NDArray[np.float64]:
        """What a launch noted."""
        return next(v.numpy() for v in values if isinstance(v, wp.array))


def extent_of(call: LaunchCall) -> tuple[int, ...]:
    """Threads in each dimension of a launch."""
    dim: Any = call.dim
    return tuple(int(n) for n in dim) if hasattr(dim, "__len__") else (int(dim),)


def add_parameters(
    source: KernelSource,
    trees: dict[FunctionSource, ast.FunctionDef],
    needing: Iterable[FunctionSource],
    parameters: Parameters,
) -> dict[FunctionSource, Mapping[str, Any]]:
    """Add arguments to the functions that need them, to all that call those, and to the calls.

    Args:
        source: The kernel.
        trees: Its edited definitions; more are added and all are changed.
        needing: Sources that use the parameters.
        parameters: The parameters.

    Returns:
        The types of the arguments of each definition that got more of them.

    Raises:
        TwinError: A function that needs them is not called by name, but handed on.
    """
    if not parameters.names:
        return {}
    functions = _affected(source, needing)
    types: dict[FunctionSource, Mapping[str, Any]] = {}
    for piece in source.all():
        called = [r for r in piece.references if id(r.function) in functions]
        if not called and id(piece.function) not in functions and piece is not source.kernel:
            continue
        tree = trees.get(piece) or copy.deepcopy(piece.tree)
        calls = _Calls({number_of(r.node) for r in called}, list(parameters.types))
        tree = calls.visit(tree)
        if calls.numbers:
            raise TwinError(f"A function that {piece.name} hands on cannot be given more arguments.")
        kernel = piece is source.kernel
        if kernel:
            types[piece] = _extend(tree, piece, parameters.kernel_types)
            if BASE in parameters.names:
                tree.body[:0] = ast.parse(f"{BASE} = 0").body
            if THREAD in parameters.names:
                tree.body[:0] = _thread_number(parameters.dimensions)
        elif id(piece.function) in functions:
            types[piece] = _extend(tree, piece, parameters.types)
        trees[piece] = tree
    return types


def _affected(source: KernelSource, needing: Iterable[FunctionSource]) -> set[int]:
    functions = {id(s.function) for s in needing if s.function is not None}
    for piece in source.functions:  # callees come first
        parts = [p for p in (piece, piece.gradient, piece.replay) if p is not None]
        if any(id(r.function) in functions for p in parts for r in p.references):
            functions.add(id(piece.function))
    return functions


def _extend(tree: ast.FunctionDef, piece: FunctionSource, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Put arguments last; in a custom adjoint before the adjoints of the outputs."""
    position = len(tree.args.args)
    if piece.role is Role.GRADIENT:
        position = int(piece.owner.adj.custom_reverse_num_input_args)
    tree.args.args[position:position] = [ast.arg(name) for name in extra]
    given = [(n, t) for n, t in piece.types.items() if n != "return"]
    returned = {n: t for n, t in piece.types.items() if n == "return"}
    return dict([*given[:position], *extra.items(), *given[position:]]) | returned


class _Calls(ast.NodeTransformer):
    """Hands further arguments to calls of some functions, by the number of the node that names the function."""

    def __init__(self, numbers: set[int], names: list[str]) -> None:
        self.numbers = set(numbers)
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if number_of(node.func) in self.numbers:
            self.numbers.discard(number_of(node.func))
            given = {k.arg for k in node.keywords}
            further = [name for name in self.names if name not in given]
            node.keywords += [ast.keyword(name, ast.Name(name, ast.Load())) for name in further]
        return node


def _thread_number(dimensions: int) -> list[ast.stmt]:
    if dimensions == 1:
        return ast.parse(f"{THREAD} = _wp.tid()").body
    names = [f"_thread_{axis}" for axis in range(dimensions)]
    number = names[0]
    for axis in range(1, dimensions):
        number = f"({number}) * {EXTENT}[{axis}] + {names[axis]}"
    return ast.parse(f"{', '.join(names)} = _wp.tid()\n{THREAD} = {number}").body


__all__ = [
    "BASE",
    "COLUMNS",
    "EXTENT",
    "KEPT",
    "NOTES",
    "PLACES",
    "ROWS",
    "STATES",
    "THREAD",
    "Parameters",
    "add_parameters",
]
