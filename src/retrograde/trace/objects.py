"""Objects that kernels reach by a number, and the arrays of the program that they hold."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.warp_api import types, wp

_HELD: Mapping[str, tuple[str, ...]] = {"Mesh": ("points", "velocities")}
"""Arrays whose values kernels read through an object, by its type."""

BUILDERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Mesh": {"__init__": ("points", "velocities"), "refit": ("points",)},
    "Bvh": {"__init__": ("lowers", "uppers"), "refit": ("lowers", "uppers"), "rebuild": ("lowers", "uppers")},
    "HashGrid": {"build": ("points",)},
}
"""Methods that read arrays to build what kernels then search, by type: names of arguments, or of attributes."""


@dataclass(frozen=True, eq=False)
class ObjectRef:
    """An object that a launch was given by its number.

    Attributes:
        identity: The number.
        item: The object.
        arrays: The arrays that it held, by attribute.
    """

    identity: int
    item: Any
    arrays: Mapping[str, ArrayRef]


class Objects:
    """The living objects by their number."""

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def add(self, item: Any) -> None:
        """An object came into being."""
        if type(item).__name__ in _HELD and getattr(item, "id", None):
            self._known[int(item.id)] = item

    def resolved(self, arguments: Sequence[Any], kernel: Any) -> tuple[Any, ...]:
        """A launch's arguments, with objects in place of their numbers."""
        return tuple(self._resolve(a, d.type) for a, d in zip(arguments, kernel.adj.args, strict=True))

    def _resolve(self, argument: Any, kind: Any) -> Any:
        if kind is not wp.uint64 or not isinstance(argument, int | wp.uint64):
            return argument
        identity = int(getattr(argument, "value", argument))
        item = self._known.get(identity)
        if item is None:
            return argument
        names = _HELD[type(item).__name__]
        arrays = {n: ref for n in names if (ref := describe(getattr(item, n, None))) is not None}
        return ObjectRef(identity, item, arrays)


def read_by(item: Any, method: str, given: Mapping[str, Any]) -> list[ArrayRef]:
    """The arrays that a method of an object reads to build what is searched."""
    names = BUILDERS[type(item).__name__][method]
    return [ref for n in names if (ref := describe(given.get(n, getattr(item, n, None)))) is not None]


def built_on(item: Any, arrays: Mapping[str, Any]) -> Any:
    """An object of the same kind on other arrays."""
    if type(item) is not types.Mesh:
        raise TypeError(f"{type(item).__name__} cannot be built on other arrays")
    return types.Mesh(arrays["points"], item.indices, arrays.get("velocities"))
