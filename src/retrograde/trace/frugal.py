"""Copies of contents that need no memory of their own: of one byte throughout, or equal to a copy that there is."""

from __future__ import annotations

import numpy as np

from retrograde.trace.extents import Bytes

_CHUNK = 1 << 17
"""Bytes compared at once: few enough to stay in a cache, and to stop soon where the contents differ."""
_SMALL = 1 << 12


class Copies:
    """Copies of contents, those of equal size compared with the last one of their size."""

    def __init__(self) -> None:
        self._last: dict[int, Bytes] = {}

    def like(self, data: Bytes, repeated: bool = False) -> Bytes | None:
        """A copy that takes no memory of its own; None where these contents are new.

        Args:
            data: The contents.
            repeated: Whether one byte may stand for many: a copy that no buffer can be made of.
        """
        if data.size < _SMALL:
            return None
        if repeated and _is_uniform(data):
            return np.broadcast_to(data[:1].copy(), data.shape)
        known = self._last.get(data.size)
        return known if known is not None and _are_equal(data, known) else None

    def remember(self, copy: Bytes) -> None:
        """Take a copy for the last one of its size."""
        if copy.size >= _SMALL:
            self._last[copy.size] = copy


def _is_uniform(data: Bytes) -> bool:
    first = data[0]
    return all(bool((data[n : n + _CHUNK] == first).all()) for n in range(0, data.size, _CHUNK))


def _are_equal(one: Bytes, other: Bytes) -> bool:
    return all(np.array_equal(one[n : n + _CHUNK], other[n : n + _CHUNK]) for n in range(0, one.size, _CHUNK))
