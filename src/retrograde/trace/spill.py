"""Bytes kept in a file that nobody sees: beyond what memory is allowed to hold."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref

import numpy as np

from retrograde.trace.extents import Bytes

_CHUNK = 64 << 20


class Spill:
    """A file that grows in chunks, mapped so that what it holds is read like any other array.

    A chunk that is full is written out and leaves memory; it comes back, page by page, when it is read.

    Args:
        folder: Where the file lies; it has no name there and is gone with this process.
        limit: Size that it may reach [byte].
    """

    def __init__(self, folder: str | None, limit: int) -> None:
        self.size = 0
        self._limit = limit
        self._file, path = tempfile.mkstemp(prefix="retrograde-", dir=folder)
        os.unlink(path)
        weakref.finalize(self, os.close, self._file)
        self._chunk: mmap.mmap | None = None
        self._used = self._room = 0

    def keep(self, data: Bytes) -> Bytes | None:
        """A copy of some bytes in the file; None where the limit or the disk has no room for them."""
        if self._room - self._used < data.size and not self._grow(data.size):
            return None
        assert self._chunk is not None
        kept = np.frombuffer(self._chunk, np.uint8, count=data.size, offset=self._used)
        kept[...] = data
        self._used += data.size
        return kept

    def _grow(self, needed: int) -> bool:
        self._write_out()
        room = -(-max(needed, min(_CHUNK, self._limit - self.size)) // mmap.ALLOCATIONGRANULARITY)
        room *= mmap.ALLOCATIONGRANULARITY
        if self.size + needed > self._limit:
            return False
        try:
            # Room is taken now: a mapped page for which the disk has none would end the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file, self.size, room)
            else:
                os.pwrite(self._file, bytes(room), self.size)
            self._chunk = mmap.mmap(self._file, room, offset=self.size)
        except OSError:
            return False
        self.size += room
        self._used, self._room = 0, room
        return True

    def _write_out(self) -> None:
        if self._chunk is not None:
            self._chunk.flush()
            if hasattr(mmap, "MADV_DONTNEED"):
                self._chunk.madvise(mmap.MADV_DONTNEED)
