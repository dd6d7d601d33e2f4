"""A second copy of the program's memory, to be rolled back and perturbed without touching the first.

The blocks are the disjoint address ranges of all arrays that the judged operations touched. Every
array (view, slice, second array on one pointer, struct field) is found in the copy at the same place
of its block, so that aliases alias there too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Bytes, Extent, host_view, merge, read_bytes, write_bytes
from retrograde.trace.operations import Undo
from retrograde.trace.warp_api import wp

_ALIGNMENT = 64


class Memory:
    """Copies of blocks of memory.

    Args:
        blocks: Disjoint ranges, sorted.
        joined: Ranges that have no place of their own: each lies where another range of its length begins.
    """

    def __init__(self, blocks: Iterable[Extent], joined: Iterable[tuple[Extent, int]] = ()) -> None:
        self.blocks = tuple(sorted(blocks))
        self._joined = tuple(joined)
        self._starts = {device: self._of(device) for device in {b.device for b in self.blocks}}
        self._buffers: dict[Extent, Any] = {}
        self._bases: dict[Extent, int] = {}
        for block in self.blocks:
            self._allocate(block)

    @classmethod
    def covering(cls, refs: Iterable[ArrayRef]) -> Memory:
        """A copy, still zero, of the blocks that hold some arrays."""
        return cls(merge(r.extent for r in refs))

    def _of(self, device: str) -> tuple[list[int], list[Extent]]:
        mine = [b for b in self.blocks if b.device == device]
        return [b.low for b in mine], mine

    def _allocate(self, block: Extent) -> None:
        buffer = wp.zeros(block.size + _ALIGNMENT, dtype=wp.uint8, device=block.device)
        base = int(buffer.ptr)
        base += (block.low - base) % _ALIGNMENT
        self._buffers[block] = buffer
        self._bases[block] = base

    # -- addresses ---------------------------------------------------------------------------------

    def _place(self, device: str, address: int) -> int:
        """Where an address lies that may be in a joined range."""
        for extent, low in self._joined:
            if extent.device == device and extent.low <= address < extent.high:
                return low + address - extent.low
        return address

    def _moved(self, extent: Extent) -> Extent:
        shift = self._place(extent.device, extent.low) - extent.low if self._joined else 0
        return Extent(extent.device, extent.low + shift, extent.high + shift) if shift else extent

    def block_of(self, device: str, address: int) -> Extent | None:
        """The block that holds an address."""
        address = self._place(device, address)
        lows, blocks = self._starts.get(device, ([], []))
        position = bisect_right(lows, address) - 1
        if position < 0 or address >= blocks[position].high:
            return None
        return blocks[position]

    def pointer(self, device: str, address: int) -> int:
        """Where an address of the program lies in this copy, 0 where it does not."""
        block = self.block_of(device, address)
        return 0 if block is None else self._bases[block] + self._place(device, address) - block.low

    def here(self, extent: Extent) -> Extent | None:
        """A range of the program as a range of this copy."""
        pointer = self.pointer(extent.device, extent.low)
        return Extent(extent.device, pointer, pointer + extent.size) if pointer else None

    def covers(self, extent: Extent) -> bool:
        """Whether a range lies within one block."""
        block = self.block_of(extent.device, extent.low)
        return block is not None and block.contains(self._moved(extent))

    # -- bytes -------------------------------------------------------------------------------------

    def fill_from_program(self) -> None:
        """Take the contents that the program's memory has now."""
        for block in self.blocks:
            self._take(block, block)

    def copy_from(self, other: Memory) -> None:
        """Take the contents of another copy of the same blocks."""
        for block in self.blocks:
            there = other.here(block)
            if there is None:
                raise KeyError(f"{block} is not in the other copy of memory")
            self._take(block, there)

    def _take(self, block: Extent, source: Extent) -> None:
        """Take the contents of a block from a range of the same size."""
        if block.device != "cpu":
            self.write(block, read_bytes(source))
            return
        here = self.here(block)
        if here is not None and block.size:
            host_view(here.low, here.size)[...] = host_view(source.low, source.size)

    def clear(self) -> None:
        """Set everything to zero."""
        for buffer in self._buffers.values():
            buffer.zero_()

    def read(self, extent: Extent) -> Bytes:
        """A copy of the bytes of a range."""
        here = self.here(extent)
        if here is None or not self.covers(extent):
            raise KeyError(f"{extent} is not in this copy of memory")
        return read_bytes(here)

    def write(self, extent: Extent, data: Bytes) -> None:
        """Write the bytes of a range; parts outside the blocks are left out."""
        block = self.block_of(extent.device, extent.low)
        if block is not None and block.contains(self._moved(extent)):
            here = self.here(extent)
            assert here is not None
            write_bytes(here, data)
            return
        for block in self.blocks:
            if block.overlaps(extent):
                low, high = max(block.low, extent.low), min(block.high, extent.high)
                part = Extent(block.device, low, high)
                self.write(part, data[low - extent.low : high - extent.low])

    def undo(self, entries: Iterable[Undo]) -> None:
        """Roll back what an operation overwrote."""
        for entry in entries:
            self.write(entry.extent, entry.data)

    # -- values ------------------------------------------------------------------------------------

    def values(self, ref: ArrayRef) -> npt.NDArray[np.float64]:
        """An array's values as float64, components of vectors as trailing axes."""
        extent = ref.extent
        return self._typed(ref, self.read(extent), extent.low).astype(np.float64)

    def set_values(self, ref: ArrayRef, values: npt.NDArray[np.float64]) -> None:
        """Write an array's values."""
        extent = ref.extent
        data = self.read(extent)
        self._typed(ref, data, extent.low)[...] = values
        self.write(extent, data)

    def add_values(self, ref: ArrayRef, amounts: npt.NDArray[np.float64]) -> None:
        """Add to an array's values; where nothing is added the bytes stay what they are, numbers or not."""
        extent = ref.extent
        data = self.read(extent)
        typed, moved = self._typed(ref, data, extent.low), amounts != 0.0
        typed[moved] = typed[moved].astype(np.float64) + amounts[moved]
        self.write(extent, data)

    def view(self, ref: ArrayRef) -> npt.NDArray[Any] | None:
        """On the host, the array's elements in this copy, sharing its memory."""
        if ref.device != "cpu":
            return None
        here = self.here(ref.extent)
        if here is None:
            return None
        return self._typed(ref, host_view(here.low, here.size), ref.extent.low)

    @staticmethod
    def _typed(ref: ArrayRef, data: Bytes, low: int) -> npt.NDArray[Any]:
        scalar = np.dtype(ref.scalar if ref.scalar is not None else np.uint8)
        return np.ndarray(ref.full_shape, dtype=scalar, buffer=data, offset=ref.pointer - low, strides=ref.full_strides)


def gradient_values(data: Bytes, ref: ArrayRef, extent: Extent | None = None) -> npt.NDArray[np.float64]:
    """Values of a gradient buffer, which has the layout of its array.

    Args:
        data: The bytes of a range.
        ref: The array.
        extent: The range, that of the gradient buffer if None.
    """
    extent = ref.gradient_extent if extent is None else extent
    assert extent is not None
    assert ref.gradient is not None
    view = np.ndarray(
        ref.full_shape,
        dtype=np.dtype(ref.scalar if ref.scalar is not None else np.uint8),
        buffer=data,
        offset=ref.gradient - extent.low,
        strides=ref.full_strides,
    )
    return view.astype(np.float64)
