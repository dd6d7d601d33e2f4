"""Which of many arrays are leaves: a tape reads them before any tape writes them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent, merge
from retrograde.trace.operations import Access, Kind, Operation, Recording


@dataclass(frozen=True, eq=False)
class TapedUses:
    """What the taped launches and copies of a recording do to some arrays, in program order.

    Sought by memory block: a program may have thousands of arrays, and each is touched by a few operations.

    Attributes:
        blocks: The blocks, in order.
        by_block: Operations and their accesses by the number of the block.
    """

    blocks: tuple[Extent, ...]
    by_block: dict[int, list[tuple[Operation, Access]]]

    @classmethod
    def of(cls, recording: Recording, refs: Sequence[ArrayRef]) -> TapedUses:
        """Sort the operations of a recording by the blocks of memory that some arrays lie in."""
        uses = cls(merge(ref.extent for ref in refs), {})
        for operation in recording.operations:
            if operation.tape is None or operation.kind not in (Kind.LAUNCH, Kind.COPY):
                continue
            for access in operation.accesses:
                for block in uses._blocks_of(access.ref.extent):
                    uses.by_block.setdefault(block, []).append((operation, access))
        return uses

    def is_leaf(self, ref: ArrayRef) -> bool:
        """Whether no tape writes the array before one reads it."""
        writer: Operation | None = None
        for operation, access in self._of(ref):
            if writer is not None and operation is not writer:
                return False
            if access.usage.load:
                return True
            if access.usage.writes:
                writer = operation
        return writer is None

    def is_launched(self, ref: ArrayRef) -> bool:
        """Whether a taped launch touches the array."""
        return any(operation.kind is Kind.LAUNCH for operation, _ in self._of(ref))

    def _of(self, ref: ArrayRef) -> Iterator[tuple[Operation, Access]]:
        """Uses of one array; a whole array lies in one block."""
        extent = ref.extent
        for block in self._blocks_of(extent):
            for operation, access in self.by_block.get(block, ()):
                if access.ref.extent.overlaps(extent):
                    yield operation, access

    def _blocks_of(self, extent: Extent) -> Iterator[int]:
        """Numbers of the blocks that a range meets."""
        begin = bisect_right(self.blocks, extent) - 1
        for number in range(max(begin, 0), len(self.blocks)):
            block = self.blocks[number]
            if (block.device, block.low) >= (extent.device, extent.high):
                break
            if block.overlaps(extent):
                yield number
