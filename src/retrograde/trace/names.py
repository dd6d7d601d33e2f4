"""What the program calls its arrays."""

from __future__ import annotations

from types import FrameType
from typing import Any

from retrograde.trace.arrays import ArrayRef, root_of
from retrograde.trace.callsite import name_of

_TRIES = 2


class Names:
    """Names of arrays, each sought a few times where the program has the array at hand.

    Attributes:
        by_array: Names by the identity of the array object.
    """

    def __init__(self) -> None:
        self.by_array: dict[int, str] = {}
        self._tries: dict[int, int] = {}

    def learn(self, ref: ArrayRef, frame: FrameType | None) -> None:
        """Look for the name of an array, and of what its elements hold.

        Args:
            ref: The array.
            frame: Where the program is; None where there is nothing to look at.
        """
        for array in {id(a): a for a in (ref.array, root_of(ref.array))}.values():
            tries = self._tries.get(id(array), 0)
            if tries < _TRIES and id(array) not in self.by_array and frame is not None:
                self._tries[id(array)] = tries + 1
                name = name_of(array, frame)
                if name is not None:
                    self.by_array[id(array)] = name
        for held in ref.held:
            holder = self.by_array.get(id(ref.array))
            if holder is not None and held.ref.array is not None:
                place = held.offset // max(ref.item, 1)
                self.by_array.setdefault(id(held.ref.array), f"{holder}[{place}].{'.'.join(held.path)}")

    def learn_as(self, array: Any, owner: Any, frame: FrameType | None) -> None:
        """Call an array what the program calls the object that it belongs to."""
        name = None if frame is None else name_of(owner, frame)
        if name is not None or id(array) not in self.by_array:
            self.by_array[id(array)] = f"an unnamed {type(owner).__name__}" if name is None else name
