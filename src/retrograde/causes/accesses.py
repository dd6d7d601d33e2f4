"""Accesses by the memory that they concern, so that who else touches some of it is found without looking at all."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from retrograde.trace.extents import Extent
from retrograde.trace.operations import Access, Operation


class Accesses:
    """Accesses, by the block of memory that they lie in.

    Args:
        blocks: Disjoint ranges, each access wholly inside one of them; the blocks of a window are such.
    """

    def __init__(self, blocks: Sequence[Extent]) -> None:
        self._lows = sorted((block.device, block.low) for block in blocks)
        self._by_block: dict[int, list[tuple[Operation, Access]]] = {}

    def add(self, operation: Operation, access: Access) -> None:
        """Add an access that comes after all that were added before."""
        self._by_block.setdefault(self._block_of(access.ref.extent), []).append((operation, access))

    def of(self, extent: Extent) -> Iterator[tuple[Operation, Access]]:
        """Those that share a byte with a range, the last first."""
        for operation, access in reversed(self._by_block.get(self._block_of(extent), [])):
            if access.ref.extent.overlaps(extent):
                yield operation, access

    def _block_of(self, extent: Extent) -> int:
        return bisect_right(self._lows, (extent.device, extent.low)) - 1
