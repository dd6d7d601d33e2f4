"""Address ranges: where an array's elements lie, and raw access to them."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.trace.warp_api import wp

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, order=True)
class Extent:
    """A half-open range of addresses on one device.

    Attributes:
        device: Alias of the device ("cpu", "cuda:0").
        low, high: First address, and the one past the last [byte].
    """

    device: str
    low: int
    high: int

    @property
    def size(self) -> int:
        """Length [byte]."""
        return self.high - self.low

    def overlaps(self, other: Extent) -> bool:
        """Whether the two ranges share a byte."""
        return self.device == other.device and self.low < other.high and other.low < self.high

    def contains(self, other: Extent) -> bool:
        """Whether `other` lies wholly inside."""
        return self.device == other.device and self.low <= other.low and other.high <= self.high


def span(pointer: int, shape: Sequence[int], strides: Sequence[int], item: int) -> tuple[int, int]:
    """Lowest and one past the highest address of a strided array [byte]."""
    low = high = pointer
    for count, stride in zip(shape, strides, strict=True):
        if count <= 0:
            return pointer, pointer
        reach = (count - 1) * stride
        low += min(reach, 0)
        high += max(reach, 0)
    return low, high + item


def read_bytes(extent: Extent) -> Bytes:
    """A copy of the bytes of a range."""
    if extent.size == 0:
        return np.empty(0, dtype=np.uint8)
    if extent.device == "cpu":
        return host_view(extent.low, extent.size).copy()
    return np.array(_device_bytes(extent).numpy(), copy=True)


def write_bytes(extent: Extent, data: Bytes) -> None:
    """Write the bytes of a range back."""
    if extent.size == 0:
        return
    if extent.device == "cpu":
        host_view(extent.low, extent.size)[:] = data
        return
    source = wp.array(data, dtype=wp.uint8, device="cpu", copy=False)
    wp.copy(_device_bytes(extent), source)


def host_view(address: int, size: int) -> Bytes:
    """The bytes at a host address as a NumPy array that shares the memory."""
    buffer = (ctypes.c_ubyte * size).from_address(address)
    return np.frombuffer(memoryview(buffer), dtype=np.uint8)


def merge(extents: Iterable[Extent]) -> tuple[Extent, ...]:
    """The union of ranges as disjoint ranges; only ranges that share a byte are joined."""
    merged: list[Extent] = []
    for extent in sorted(e for e in extents if e.size):
        last = merged[-1] if merged else None
        if last is not None and last.overlaps(extent):
            merged[-1] = Extent(last.device, last.low, max(last.high, extent.high))
        else:
            merged.append(extent)
    return tuple(merged)


def meets(extent: Extent, merged: Sequence[Extent]) -> bool:
    """Whether a range shares a byte with one of some disjoint ranges, as `merge` gives them."""
    at = bisect_left(merged, extent)
    return any(merged[k].overlaps(extent) for k in (at - 1, at) if 0 <= k < len(merged))


def _device_bytes(extent: Extent) -> Any:
    return wp.array(ptr=extent.low, shape=(extent.size,), dtype=wp.uint8, device=extent.device)
