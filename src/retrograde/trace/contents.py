"""Contents that the program overwrites, kept so that memory can be rolled back to any operation.

They are kept in memory, then in a file. Where both are half full, what follows is divided into segments: of each, only
the contents at its beginning are kept, from which its operations can be run again (A. Griewank, Achieving logarithmic
growth of temporal and spatial complexity in reverse automatic differentiation, Optim. Methods Softw. 1, 1992,
doi:10.1080/10556789208805505, in its plainest form: one level, evenly spaced).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from dataclasses import dataclass

from retrograde.request import DISK, MEMORY
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Bytes, Extent, host_view, read_bytes
from retrograde.trace.frugal import Copies
from retrograde.trace.operations import Segment, Undo
from retrograde.trace.spill import Spill

_DENSE = 0.5
_AT_ONCE = 0.25
_OF_FREE_DISK = 0.5


class RecordingLimit(Exception):
    """Raised inside when there is no room left for overwritten contents."""


@dataclass(frozen=True)
class Room:
    """Where overwritten contents may be kept.

    Attributes:
        memory: In memory [byte].
        disk: In a file beyond that [byte]; never more than half of what the disk has free.
        folder: Where the file lies; None for the folder for temporary files.
    """

    memory: int = int(MEMORY * 2**30)
    disk: int = int(DISK * 2**30)
    folder: str | None = None


ROOM = Room()
"""Where they are kept if nobody says."""


class Contents:
    """What operations overwrote, and what gradient buffers held when something read them.

    Args:
        room: Where to keep it.

    Attributes:
        undo: What each operation overwrote, by its index.
        segments: Stretches of operations whose overwritten contents are not all kept.
        gradients: Gradient buffers that were seen, by where they begin.
        in_memory: What is kept in memory [byte].
    """

    def __init__(self, room: Room) -> None:
        self.undo: dict[int, list[Undo]] = {}
        self.gradients: dict[int, Extent] = {}
        self.in_memory = 0
        self._by_backward: set[int] = set()
        self._room = room
        self._disk = min(room.disk, int(_OF_FREE_DISK * _free(room.folder)))
        self._spill: Spill | None = None
        self._copies = Copies()
        self._done: list[Segment] = []
        self._segment: _OpenSegment | None = None

    @property
    def on_disk(self) -> int:
        """What is kept in the file [byte]."""
        return 0 if self._spill is None else self._spill.size

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments so far, in program order."""
        last = () if self._segment is None else (self._segment.closed(self._segment.end),)
        return (*self._done, *(s for s in last if s.dropped))

    def keep(self, index: int, extent: Extent) -> None:
        """Keep what an operation is about to overwrite.

        Raises:
            RecordingLimit: There is no room.
        """
        if extent.size == 0:
            return
        if self._segment is None and self.in_memory + self.on_disk + extent.size > _DENSE * self._total:
            self._segment = _OpenSegment(index)
        if self._segment is not None and self._left_out(self._segment, index, extent):
            return
        self.add(index, Undo(extent, self._kept(extent)))

    def keep_in_backward(self, index: int, extent: Extent) -> None:
        """Keep what a function that a backward pass runs is about to overwrite, but for gradients.

        Raises:
            RecordingLimit: There is no room.
        """
        kept = self.undo.get(index, ())
        if extent.size and extent.low not in self.gradients and all(u.extent != extent for u in kept):
            self._by_backward.add(extent.low)
            # The latest is undone first.
            self.undo.setdefault(index, []).insert(0, Undo(extent, self._kept(extent)))

    def spare(self, extent: Extent) -> Bytes | None:
        """What a range holds now, kept; None where what is overwritten needs the room."""
        full = self.in_memory + self.on_disk + extent.size > _DENSE * self._total
        return None if full or self._segment is not None else self._kept(extent)

    @property
    def _total(self) -> int:
        return self._room.memory + self._disk

    def _left_out(self, segment: _OpenSegment, index: int, extent: Extent) -> bool:
        """Whether contents need not be kept: the operations since the segment's beginning give them again."""
        full = segment.size > 0 and segment.size + extent.size > _AT_ONCE * self._room.memory
        if full and index not in segment.dropped:
            self._done.append(segment.closed(index))
            segment = self._segment = _OpenSegment(index)
        segment.end = index + 1
        if extent.low in self.gradients or extent.low in self._by_backward:  # backward passes are not run again
            return False
        if extent not in segment.kept:
            segment.kept.add(extent)
            return False
        segment.dropped.setdefault(index, []).append(extent)
        segment.size += extent.size
        return True

    def copy(self, extent: Extent) -> Bytes:
        """What a range holds now: a copy that nothing changes, and that may have been there already."""
        there = _now(extent)
        known = self._copies.like(there)
        if known is not None:
            return known
        copy = there.copy() if extent.device == "cpu" else there
        self._copies.remember(copy)
        return copy

    def _kept(self, extent: Extent) -> Bytes:
        there = _now(extent)
        known = self._copies.like(there, repeated=True)
        if known is not None:
            return known
        if self.in_memory + extent.size <= self._room.memory:
            self.in_memory += extent.size
            return there.copy() if extent.device == "cpu" else there
        if self._spill is None:
            self._spill = Spill(self._room.folder, self._disk)
        kept = self._spill.keep(there)
        if kept is None:
            raise RecordingLimit(
                f"the contents that the program overwrites fit neither into {_size(self._room.memory)} of memory nor "
                f"into {_size(self._disk)} on disk; take fewer steps or smaller arrays, or allow more by --memory and "
                "--disk"
            )
        return kept

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


class _OpenSegment:
    """A segment that the recording is in.

    Args:
        begin: Index of its first operation.
    """

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self.end = begin + 1
        self.kept: set[Extent] = set()
        self.dropped: dict[int, list[Extent]] = {}
        self.size = 0

    def closed(self, end: int) -> Segment:
        return Segment(self.begin, min(self.end, end), {index: tuple(found) for index, found in self.dropped.items()})


def _now(extent: Extent) -> Bytes:
    """What a range holds: on the host the memory itself, elsewhere a copy."""
    return host_view(extent.low, extent.size) if extent.device == "cpu" and extent.size else read_bytes(extent)


def _free(folder: str | None) -> int:
    return shutil.disk_usage(folder or tempfile.gettempdir()).free


def _size(count: int) -> str:
    return f"{count / 2**30:.3g} GiB" if count >= 2**28 else f"{count / 2**20:.3g} MiB"
