"""The floating-point numbers that a launch was given by value: scalars, vectors, and those in structs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from retrograde.trace.arguments import Argument, StructRef
from retrograde.trace.arrays import element
from retrograde.trace.operations import LaunchCall
from retrograde.trace.usage import Path
from retrograde.trace.warp_api import wp

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Number:
    """A number, vector or matrix handed to a launch by value.

    Attributes:
        position: Index of the argument.
        path: Label of the argument, and the fields below it.
        values: Its components.
    """

    position: int
    path: Path
    values: Float

    @property
    def label(self) -> str:
        """How the kernel names it."""
        return ".".join(self.path)


def numbers_of(call: LaunchCall) -> tuple[Number, ...]:
    """All floating-point numbers among a launch's arguments."""
    found: list[Number] = []
    for position, (argument, declared) in enumerate(zip(call.arguments, call.kernel.adj.args, strict=True)):
        if isinstance(argument, StructRef):
            for path, part, scalar in _members(argument.cls, argument.layout):
                found.append(Number(position, (declared.label, *path), _read(argument.memory, part, scalar)))
        elif element(declared.type)[0] is not None:
            values = np.asarray(argument, dtype=np.float64).reshape(-1)
            found.append(Number(position, (declared.label,), values))
    return tuple(found)


def values_of(numbers: Sequence[Number]) -> Float:
    """All components, one after the other."""
    return np.concatenate([n.values for n in numbers]) if numbers else np.zeros(0)


def with_values(call: LaunchCall, numbers: Sequence[Number], values: Float) -> LaunchCall:
    """The same launch with other numbers."""
    arguments = list(call.arguments)
    begin = 0
    for number in numbers:
        part = values[begin : begin + number.values.size]
        begin += number.values.size
        argument = arguments[number.position]
        declared = call.kernel.adj.args[number.position]
        if isinstance(argument, StructRef):
            arguments[number.position] = _with_member(argument, number.path[1:], part)
        else:
            arguments[number.position] = _made(declared.type, argument, part)
    return replace(call, arguments=tuple(arguments))


def _made(declared: Any, argument: Argument, values: Float) -> Any:
    if not element(declared)[1]:
        return float(values[0])
    return declared(*(float(v) for v in values))


# -- members of structs --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    offset: int
    size: int


def _members(cls: Any, layout: Any, prefix: Path = (), base: int = 0) -> Iterator[tuple[Path, _Part, Any]]:
    for name, variable in cls.vars.items():
        place: Any = getattr(layout, name)
        offset = base + int(place.offset)
        if wp.types.is_array(variable.type):
            continue
        if isinstance(getattr(variable.type, "vars", None), dict):
            inner = dict(cast("Sequence[tuple[str, Any]]", layout._fields_))[name]
            yield from _members(variable.type, inner, (*prefix, name), offset)
            continue
        scalar, _ = element(variable.type)
        if scalar is not None:
            yield (*prefix, name), _Part(offset, int(place.size)), scalar


def _read(memory: bytes, part: _Part, scalar: Any) -> Float:
    return np.frombuffer(memory, dtype=scalar, count=part.size // np.dtype(scalar).itemsize, offset=part.offset).astype(
        np.float64
    )


def _with_member(argument: StructRef, path: Path, values: Float) -> StructRef:
    memory = bytearray(argument.memory)
    for known, part, scalar in _members(argument.cls, argument.layout):
        if known == path:
            memory[part.offset : part.offset + part.size] = values.astype(scalar).tobytes()
    return replace(argument, memory=bytes(memory))
