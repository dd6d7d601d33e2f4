"""Kernels read as Python: their own text, run thread by thread on numbers that carry derivatives.

Custom adjoints, replays and adjoint snippets are not run: what a kernel's derivative is does not depend on them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
from tests.properties.inside.dual import Dual, Vector, dot, dual, gradient_of, power, smooth

Contents = dict[str, Any]


class Array:
    """An array of numbers or vectors."""

    def __init__(self, values: Any, shape: tuple[int, ...]) -> None:
        self.values = list(values)
        self.shape = shape

    def _place(self, index: Any) -> int:
        indices = index if isinstance(index, tuple) else (index,)
        place = 0
        for at, length in zip(indices, self.shape, strict=True):
            assert 0 <= at < length, (index, self.shape)
            place = place * length + at
        return place

    def __getitem__(self, index: Any) -> Any:
        value = self.values[self._place(index)]
        return value.copy() if isinstance(value, Vector) else value

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[self._place(index)] = value


@dataclass(frozen=True)
class Launch:
    """A launch.

    Attributes:
        kernel: Name of the kernel.
        dim: Threads in each dimension.
        arguments: Names of arrays, names of structs, or numbers.
    """

    kernel: str
    dim: tuple[int, ...]
    arguments: tuple[str | int | float, ...]


class Reading:
    """The kernels of a program.

    Args:
        text: Their definitions, with those of their functions and structs.
    """

    def __init__(self, text: str) -> None:
        self._thread: tuple[int, ...] = (0,)
        self._scope: dict[str, Any] = {"wp": self._warp(), "float": _number, "int": _integer, "__name__": "read"}
        exec(compile(text, "<kernels>", "exec", dont_inherit=True), self._scope)

    def struct(self, name: str, fields: Mapping[str, Any]) -> Any:
        """An instance of a struct that the text defines."""
        made = self._scope[name]()
        for field, value in fields.items():
            setattr(made, field, value)
        return made

    def launch(self, launch: Launch, contents: Contents) -> None:
        """Run all threads, in order."""
        kernel = self._scope[launch.kernel]
        arguments = [contents[a] if isinstance(a, str) else a for a in launch.arguments]
        for self._thread in product(*(range(n) for n in launch.dim)):
            kernel(*arguments)

    def _tid(self) -> Any:
        return self._thread if len(self._thread) > 1 else self._thread[0]

    def _warp(self) -> Any:
        return SimpleNamespace(**_FUNCTIONS, tid=self._tid)


def parameter(values: np.ndarray, width: int) -> Array:
    """The parameters as an array, each with its own derivative."""
    count = values.size
    numbers = [Dual(v, np.eye(count)[k]) for k, v in enumerate(values.reshape(-1))]
    return _grouped(numbers, values.shape, width)


def constant(values: np.ndarray, width: int) -> Array:
    """Numbers as an array; integers stay what they are."""
    flat: list[Any] = values.reshape(-1).tolist()
    return _grouped([dual(v) if isinstance(v, float) else v for v in flat], values.shape, width)


def slope_of(array: Array, count: int) -> np.ndarray:
    """Derivatives of an array's first number."""
    return gradient_of(array.values[0], count)


def _grouped(numbers: Sequence[Any], shape: tuple[int, ...], width: int) -> Array:
    if width == 1:
        return Array(numbers, shape)
    return Array([Vector(numbers[k : k + width], (width,)) for k in range(0, len(numbers), width)], shape[:-1])


# -- what Warp offers ----------------------------------------------------------------------------------


def _number(value: Any = 0.0) -> Any:
    return value if isinstance(value, Dual) else dual(value)


def _integer(value: Any = 0) -> int:
    return int(value.value) if isinstance(value, Dual) else int(value)


def _composite(*shape: int) -> Callable[..., Vector]:
    size = math.prod(shape)

    def make(*parts: Any) -> Vector:
        return Vector(parts if len(parts) == size else [parts[0] if parts else 0.0] * size, shape)

    return make


def _decorator(*given: Any, **_: Any) -> Any:
    """A decorator with or without arguments; custom adjoints and replays leave their function alone."""
    if len(given) == 1 and callable(given[0]) and not hasattr(given[0], "own"):
        given[0].own = True
        return given[0]
    return lambda function: function


def _native(snippet: str, *_: Any, **__: Any) -> Callable[[Any], Any]:
    expression = re.sub(r"(?<=\d)f\b", "", snippet.strip().removeprefix("return ").removesuffix(";"))

    def decorate(function: Any) -> Any:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        code = compile(expression, "<native>", "eval")
        return lambda *values: eval(code, {"sin": _FUNCTIONS["sin"]}, dict(zip(names, values, strict=True)))

    return decorate


def _struct(cls: type) -> type:
    return cls


def _atomic_add(array: Array, *rest: Any) -> Any:
    *indices, value = rest
    index = tuple(indices) if len(indices) > 1 else indices[0]
    old = array[index]
    array[index] = old + value
    return old


def _where(condition: Any, chosen: Any, other: Any) -> Any:
    return chosen if condition else other


def _minimum(a: Any, b: Any) -> Any:
    return a if a <= b else b


def _maximum(a: Any, b: Any) -> Any:
    return a if a >= b else b


def _length(v: Vector) -> Dual:
    return _sqrt(dot(v, v))


def _step(function: Callable[[float], float]) -> Callable[[Any], Dual]:
    return lambda x: Dual(function(dual(x).value))


_sqrt = smooth(math.sqrt, lambda x: 0.5 / math.sqrt(x))

_FUNCTIONS: dict[str, Any] = {
    "kernel": _decorator,
    "func": _decorator,
    "func_grad": lambda _: lambda function: function,
    "func_replay": lambda _: lambda function: function,
    "func_native": _native,
    "struct": _struct,
    "array": lambda *_, **__: Any,
    "array2d": lambda *_, **__: Any,
    "float32": _number,
    "float64": _number,
    "int32": _integer,
    "atomic_add": _atomic_add,
    "where": _where,
    "min": _minimum,
    "max": _maximum,
    "abs": lambda x: x if x >= 0.0 else -x,
    "sin": smooth(math.sin, math.cos),
    "cos": smooth(math.cos, lambda x: -math.sin(x)),
    "tanh": smooth(math.tanh, lambda x: 1.0 - math.tanh(x) ** 2),
    "exp": smooth(math.exp, math.exp),
    "log": smooth(lambda x: math.log(x) if x > 0.0 else -math.inf, lambda x: 1.0 / x),
    "sqrt": _sqrt,
    "cbrt": smooth(lambda x: math.copysign(abs(x) ** (1 / 3), x), lambda x: abs(x) ** (-2 / 3) / 3.0),
    "acos": smooth(math.acos, lambda x: -1.0 / math.sqrt(1.0 - x * x)),
    "asin": smooth(math.asin, lambda x: 1.0 / math.sqrt(1.0 - x * x)),
    "pow": power,
    "round": _step(lambda x: math.floor(abs(x) + 0.5) * math.copysign(1.0, x)),
    "floor": _step(math.floor),
    "ceil": _step(math.ceil),
    "trunc": _step(math.trunc),
    "sign": _step(lambda x: -1.0 if x < 0.0 else 1.0),
    "dot": dot,
    "length": _length,
    "determinant": lambda m: m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0],
    "adjoint": {},
    **{f"vec{n}{d}": _composite(n) for n in (2, 3, 4) for d in ("", "d")},
    **{f"mat{n}{n}{d}": _composite(n, n) for n in (2, 3) for d in ("", "d")},
    **{f"quat{d}": _composite(4) for d in ("", "d")},
}
