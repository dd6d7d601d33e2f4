"""Contents that the program overwrites, kept so that memory can be rolled back to any operation."""

from __future__ import annotations

from collections.abc import Collection

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Bytes, Extent, read_bytes
from retrograde.trace.operations import Undo


class RecordingLimit(Exception):
    """Raised inside when the memory budget for overwritten contents is spent."""


class Contents:
    """What operations overwrote, and what gradient buffers held when something read them.

    Args:
        budget: Memory for overwritten contents [byte].

    Attributes:
        undo: What each operation overwrote, by its index.
        gradients: Gradient buffers that were seen, by where they begin.
    """

    def __init__(self, budget: int) -> None:
        self.undo: dict[int, list[Undo]] = {}
        self.gradients: dict[int, Extent] = {}
        self._budget = budget
        self._spent = 0

    def keep(self, index: int, extent: Extent) -> None:
        """Keep what an operation is about to overwrite.

        Raises:
            RecordingLimit: The budget is spent.
        """
        if extent.size == 0:
            return
        self._spent += extent.size
        if self._spent > self._budget:
            raise RecordingLimit(
                f"overwritten contents exceed {self._budget / 2**30:.0f} GiB; run fewer steps or smaller arrays"
            )
        self.add(index, Undo(extent, read_bytes(extent)))

    def add(self, index: int, undo: Undo) -> None:
        """Keep what an operation is known to have overwritten."""
        self.undo.setdefault(index, []).append(undo)

    def know(self, ref: ArrayRef) -> None:
        """Remember an array's gradient buffer."""
        gradient = ref.gradient_extent
        if gradient is not None:
            self.gradients[gradient.low] = gradient

    def of_gradients(self, extents: Collection[Extent]) -> dict[Extent, Bytes]:
        """What those of some ranges hold that are gradient buffers."""
        return {extent: read_bytes(extent) for extent in extents if extent.low in self.gradients}
