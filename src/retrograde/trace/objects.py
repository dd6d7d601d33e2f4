"""Objects that kernels reach by a number, and the arrays of the program that they hold."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.builds import BuildCall, Builds, Kept, is_counted
from retrograde.trace.warp_api import types, wp

_HELD: Mapping[str, tuple[str, ...]] = {"Mesh": ("points", "velocities"), "Volume": ("voxels",)}
"""Arrays whose values kernels read through an object, by its type; a volume's is the memory that it consists of."""

BUILDERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Mesh": {"__init__": ("points", "velocities"), "refit": ("points",)},
    "Bvh": {"__init__": ("lowers", "uppers"), "refit": ("lowers", "uppers"), "rebuild": ("lowers", "uppers")},
    "HashGrid": {"build": ("points",)},
    "Volume": {"__init__": ()},
}
"""Methods that read arrays to build what kernels then search, by type: names of arguments, or of attributes."""


@dataclass(frozen=True, eq=False)
class ObjectRef:
    """An object that a launch was given by its number.

    Attributes:
        identity: The number.
        item: The object.
        arrays: The arrays that it held, by attribute; where it holds what it was built on, the count of its builds.
        builds: Of the latter, the builds.
    """

    identity: int
    item: Any
    arrays: Mapping[str, ArrayRef]
    builds: Builds | None = None

    @property
    def is_written(self) -> bool:
        """Whether kernels can write to it."""
        return isinstance(self.item, types.Volume)


class Objects:
    """The living objects by their number."""

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._builds: weakref.WeakKeyDictionary[Any, Builds] = weakref.WeakKeyDictionary()
        self._volumes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def add(self, item: Any) -> None:
        """An object came into being; a volume gets its number later."""
        if isinstance(item, types.Volume):
            self._volumes[item] = None
            return
        if getattr(item, "id", None) and (type(item).__name__ in _HELD or is_counted(item)):
            self._known[int(item.id)] = item

    def builds(self, item: Any) -> Builds | None:
        """What an object was built on, None where it holds nothing but arrays of the program."""
        if not is_counted(item):
            return None
        if item not in self._builds:
            self._builds[item] = Builds(item)
        return self._builds[item]

    def resolved(self, arguments: Sequence[Any], kernel: Any) -> tuple[Any, ...]:
        """A launch's arguments, with objects in place of their numbers."""
        return tuple(self._resolve(a, d.type) for a, d in zip(arguments, kernel.adj.args, strict=True))

    def _resolve(self, argument: Any, kind: Any) -> Any:
        if kind is not wp.uint64 or not isinstance(argument, int | wp.uint64):
            return argument
        identity = int(getattr(argument, "value", argument))
        item = self._known.get(identity)
        if item is None:
            item = next((v for v in self._volumes if v.id == identity), None)
        if item is None:
            return argument
        builds = self.builds(item)
        if builds is not None:
            return ObjectRef(identity, item, {"builds": builds.ref}, builds)
        names = _HELD[type(item).__name__]
        arrays = {n: ref for n in names if (ref := describe(self._held(item, n))) is not None}
        return ObjectRef(identity, item, arrays)

    def _held(self, item: Any, name: str) -> Any:
        if not isinstance(item, types.Volume):
            return getattr(item, name, None)
        if self._volumes[item] is None:
            self._volumes[item] = item.array()
        return self._volumes[item]


def read_by(item: Any, method: str, given: Mapping[str, Any]) -> list[ArrayRef]:
    """The arrays that a method of an object reads to build what is searched."""
    names = BUILDERS[type(item).__name__].get(method, ())
    return [ref for n in names if (ref := describe(given.get(n, getattr(item, n, None)))) is not None]


def built_on(item: Any, arrays: Mapping[str, Any]) -> Any:
    """An object of the same kind on other arrays."""
    if isinstance(item, types.Volume):
        return types.Volume(arrays["voxels"], copy=False)
    if type(item) is not types.Mesh:
        raise TypeError(f"{type(item).__name__} cannot be built on other arrays")
    return types.Mesh(arrays["points"], item.indices, arrays.get("velocities"))


def built_again(builds: Builds, calls: Sequence[BuildCall], array: Callable[[Kept], Any]) -> Any:
    """An object as some calls made it.

    Args:
        builds: Its builds.
        calls: The calls, the one that makes it first.
        array: Finds an array with the contents that one had.
    """
    made, *rest = ((c.method, {n: array(v) if isinstance(v, Kept) else v for n, v in c.given.items()}) for c in calls)
    item = builds.kind(**made[1])
    for method, given in rest:
        getattr(item, method)(**given)
    return item
