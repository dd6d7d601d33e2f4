"""Signals that ask the command to stop."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Their numbers, as far as this system has them."""


class StopFlag:
    """Remembers the first signal that asked to stop.

    A flag that is polled, not an exception: an exception may strike between the start of a process and the moment
    its number is kept, and then nobody can end it.

    Attributes:
        signal: Number of that signal; None before one came.
    """

    def __init__(self) -> None:
        self.signal: int | None = None

    def _raise(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal = number


@contextmanager
def stop_flag() -> Generator[StopFlag]:
    """Collect signals in a `StopFlag` while the block runs; those that the caller ignores stay ignored."""
    flag = StopFlag()
    previous = {
        number: signal.signal(number, flag._raise)  # pyright: ignore[reportPrivateUsage]
        for number in STOPS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield flag
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
