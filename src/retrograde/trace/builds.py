"""What objects that kernels search were built on, each time they were built.

A hash grid or a BVH holds what it was built on, not the arrays. What an object was built on is counted, and the count
lies in memory: so that building again is a write like any other, which can be rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.extents import Bytes, Extent, read_bytes, write_bytes
from retrograde.trace.warp_api import types, wp

Keep = Callable[[Extent], Bytes | None]

_TAKES: Mapping[str, str] = {"HashGrid": "build", "Bvh": "__init__"}
"""The method that is given the arrays which an object is built on, by its type."""


@dataclass(frozen=True, eq=False)
class Kept:
    """An array that a call was given, and what it held.

    Attributes:
        ref: The array.
        data: The bytes of its extent.
    """

    ref: ArrayRef
    data: Bytes


@dataclass(frozen=True, eq=False)
class BuildCall:
    """A call that takes part in building an object.

    Attributes:
        method: Its name.
        given: Its arguments by name, arrays as they were.
    """

    method: str
    given: Mapping[str, Any]


class Builds:
    """What one object was built on.

    Args:
        item: The object.

    Attributes:
        count: An array of one element, on the host: which build is the present one, 0 for none that is known.
        made_again: The build that was last carried out again, its result, and the memory that this is built on.
    """

    def __init__(self, item: Any) -> None:
        self.kind: Any = type(item)
        self.count = wp.zeros(1, dtype=wp.int64, device="cpu")
        self.made_again: tuple[int, Any, object] | None = None
        self._made: Mapping[str, Any] = {}
        self._calls: list[tuple[BuildCall, ...]] = [()]
        self._numbers: dict[Hashable, int] = {}

    @property
    def ref(self) -> ArrayRef:
        """The array that counts."""
        ref = describe(self.count)
        assert ref is not None
        return ref

    def add(self, item: Any, method: str, given: Mapping[str, Any], keep: Keep) -> bool:
        """The object was made, or built on what some arrays hold now; the same contents again are the same build.

        Args:
            item: The object.
            method: The method that did it.
            given: Its arguments by name.
            keep: Keeps contents; None where there is no room.

        Returns:
            Whether what it was built on could be kept. If not it counts as never built.
        """
        if method == "__init__":
            self._made = given
        takes = _TAKES[self.kind.__name__]
        if method == "__init__" != takes:
            return True
        if takes == "__init__":
            present = {name: getattr(item, name) for name in self._made if isinstance(self._made[name], types.array)}
            calls = (("__init__", {**self._made, **present}),)
        else:
            calls = (("__init__", self._made), (takes, given))
        key = tuple((name, _told_by(value)) for _, arguments in calls for name, value in sorted(arguments.items()))
        if key not in self._numbers:
            kept = _all_kept(calls, keep)
            self._numbers[key] = 0 if kept is None else len(self._calls)
            self._calls += [] if kept is None else [kept]
        number = self._numbers[key]
        write_bytes(self.ref.extent, np.frombuffer(np.int64(number).tobytes(), dtype=np.uint8))
        return number > 0

    def calls(self, count: Bytes) -> tuple[int, tuple[BuildCall, ...]]:
        """Which build a count tells of, and the calls that make the object as it was then."""
        number = int(count.view(np.int64)[0])
        return number, self._calls[number]


def _told_by(value: Any) -> Hashable:
    """What tells an argument from others: of an array its layout and a digest of what it holds."""
    ref = describe(value)
    if ref is None:
        return value if isinstance(value, Hashable) else id(value)
    return ref.shape, ref.strides, blake2b(read_bytes(ref.extent).tobytes()).digest()


def _all_kept(calls: Sequence[tuple[str, Mapping[str, Any]]], keep: Keep) -> tuple[BuildCall, ...] | None:
    """Calls with what their arrays hold now, None where there is no room for that."""
    found: list[BuildCall] = []
    for method, given in calls:
        arguments = dict(given)
        for name, value in given.items():
            ref = describe(value)
            if ref is not None:
                data = keep(ref.extent)
                if data is None:
                    return None
                arguments[name] = Kept(ref, data)
        found.append(BuildCall(method, arguments))
    return tuple(found)


def kept_in(calls: tuple[BuildCall, ...]) -> Iterator[Kept]:
    """The arrays that some calls were given."""
    return (value for call in calls for value in call.given.values() if isinstance(value, Kept))


def is_counted(item: Any) -> bool:
    """Whether an object holds what it was built on."""
    return type(item).__name__ in _TAKES
