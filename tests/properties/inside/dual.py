"""Numbers that carry their derivatives, and vectors of them: forward differentiation, without Warp."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


class Dual:
    """A value with its derivative by every parameter; compared by its value."""

    __slots__ = ("slope", "value")

    def __init__(self, value: float, slope: Any = 0.0) -> None:
        self.value = float(value)
        self.slope = slope

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return NotImplemented
        other = dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Any) -> Any:
        other = dual(other)
        return Dual(self.value - other.value, self.slope - other.slope)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return NotImplemented
        other = dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __truediv__(self, other: Any) -> Any:
        other = dual(other)
        if other.value == 0.0:
            return Dual(math.nan)
        quotient = self.value / other.value
        return Dual(quotient, (self.slope - quotient * other.slope) / other.value)

    def __pow__(self, other: Any) -> Any:
        return power(self, other)

    def __rsub__(self, other: Any) -> Any:
        return dual(other) - self

    def __rtruediv__(self, other: Any) -> Any:
        return dual(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __lt__(self, other: Any) -> bool:
        return self.value < dual(other).value

    def __le__(self, other: Any) -> bool:
        return self.value <= dual(other).value

    def __gt__(self, other: Any) -> bool:
        return self.value > dual(other).value

    def __ge__(self, other: Any) -> bool:
        return self.value >= dual(other).value

    def __eq__(self, other: object) -> bool:
        return self.value == dual(other).value

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def dual(number: Any) -> Dual:
    """A number as one that carries derivatives."""
    return number if isinstance(number, Dual) else Dual(float(number))


def smooth(value: Callable[[float], float], slope: Callable[[float], float]) -> Callable[[Any], Dual]:
    """A function of one number; where its slope is not finite, it is taken for zero.

    The programs use such a point only where that slope does not matter.
    """

    def function(x: Any) -> Dual:
        x = dual(x)
        steep = _or_nan(slope, x.value)
        return Dual(_or_nan(value, x.value), (steep if math.isfinite(steep) else 0.0) * x.slope)

    return function


def _or_nan(function: Callable[[float], float], x: float) -> float:
    try:
        found: Any = function(x)
    except (ValueError, ZeroDivisionError):
        return math.nan
    return math.nan if isinstance(found, complex) else found


def power(base: Any, exponent: Any) -> Dual:
    """A power with a constant exponent."""
    n = dual(exponent).value
    return smooth(lambda x: x**n, lambda x: n * x ** (n - 1.0))(base)


class Vector:
    """A vector, a matrix or a quaternion."""

    __slots__ = ("parts", "shape")

    def __init__(self, parts: Iterable[Any], shape: tuple[int, ...]) -> None:
        self.parts = [dual(p) for p in parts]
        self.shape = shape

    def copy(self) -> Vector:
        return Vector(self.parts, self.shape)

    def _place(self, index: Any) -> int:
        return index if isinstance(index, int) else index[0] * self.shape[1] + index[1]

    def __getitem__(self, index: Any) -> Dual:
        return self.parts[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.parts[self._place(index)] = dual(value)

    def __iter__(self) -> Iterator[Dual]:
        return iter(self.parts)

    def __getattr__(self, name: str) -> Dual:
        if name not in ("x", "y", "z", "w"):
            raise AttributeError(name)
        return self.parts["xyzw".index(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("x", "y", "z", "w"):
            self.parts["xyzw".index(name)] = dual(value)
        else:
            object.__setattr__(self, name, value)

    def __add__(self, other: Vector) -> Vector:
        return Vector((a + b for a, b in zip(self.parts, other.parts, strict=True)), self.shape)

    def __sub__(self, other: Vector) -> Vector:
        return Vector((a - b for a, b in zip(self.parts, other.parts, strict=True)), self.shape)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Vector):
            return Vector((a * other for a in self.parts), self.shape)
        rows, inner = self.shape
        columns = other.shape[1] if len(other.shape) == 2 else 1
        made = [
            sum((self[r, k] * other.parts[k * columns + c] for k in range(inner)), Dual(0.0))
            for r in range(rows)
            for c in range(columns)
        ]
        return Vector(made, (rows, columns) if len(other.shape) == 2 else (rows,))

    __rmul__ = __mul__
    __matmul__ = __mul__

    def __truediv__(self, other: Any) -> Vector:
        return Vector((a / other for a in self.parts), self.shape)

    def __neg__(self) -> Vector:
        return Vector((-a for a in self.parts), self.shape)


def dot(a: Vector, b: Vector) -> Dual:
    """The inner product."""
    return sum((x * y for x, y in zip(a.parts, b.parts, strict=True)), Dual(0.0))


def gradient_of(number: Any, count: int) -> np.ndarray:
    """The derivatives of a number by `count` parameters."""
    return np.broadcast_to(np.asarray(dual(number).slope, dtype=np.float64), (count,)).copy()
