"""Messages between this process and its forked copies: a length, then a pickle. Both ends are ours."""

from __future__ import annotations

import os
import pickle
import struct
from typing import Any


def send(descriptor: int, value: object) -> None:
    """Write one message; a reader that is gone is no error."""
    data = pickle.dumps(value)
    view = memoryview(struct.pack("<Q", len(data)) + data)
    while view:
        try:
            written = os.write(descriptor, view)
        except BrokenPipeError:
            return
        view = view[written:]


def receive(descriptor: int) -> Any:
    """Read one message; None where the writer ended before it was whole."""
    header = _read_exactly(descriptor, 8)
    if header is None:
        return None
    (size,) = struct.unpack("<Q", header)
    data = _read_exactly(descriptor, size)
    return None if data is None else pickle.loads(data)


def _read_exactly(descriptor: int, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        try:
            part = os.read(descriptor, min(size, 1 << 20))
        except OSError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
