"""Whose calls are recorded: those of one thread, the one that records tapes.

What another thread does at the same time has no place in the order of calls, and is not there when the program
is run again from a copy of its process. It is left aside as long as it stays away from the arrays on the tape.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence

from retrograde.trace.extents import Extent
from retrograde.trace.operations import Operation


class ForeignCallError(Exception):
    """Raised inside: a call of a thread that is not recorded."""


class RecordedThread:
    """The thread whose calls are recorded.

    It is the first that calls, until another opens a tape before any tape was opened, or until it has ended.

    Attributes:
        process: The process whose calls are recorded; the program's own forks are others.
        conflict: Why the recording cannot be trusted, None as long as it can.
    """

    def __init__(self) -> None:
        self.process = os.getpid()
        self.conflict: str | None = None
        self._thread: threading.Thread | None = None
        self._tapes = False
        self._foreign: dict[threading.Thread, list[Extent]] = {}

    def admit(self, touched: Iterable[Extent]) -> None:
        """A call of the present thread.

        Args:
            touched: What it touches.

        Raises:
            ForeignCallError: It is not to be recorded.
        """
        caller = threading.current_thread()
        if self._thread is None or not self._thread.is_alive():
            self._thread = caller
        if caller is not self._thread:
            self._foreign.setdefault(caller, []).extend(touched)
            raise ForeignCallError

    def open_tape(self) -> None:
        """The present thread opens a tape or runs one backward.

        Raises:
            ForeignCallError: Another thread records tapes.
        """
        caller = threading.current_thread()
        alive = self._thread is not None and self._thread.is_alive()
        if caller is not self._thread and alive and self._tapes:
            self.conflict = "The program records tapes in several threads at once."
            raise ForeignCallError
        self._foreign.pop(caller, None)
        self._thread, self._tapes = caller, True

    def obstacle(self, operations: Sequence[Operation]) -> str | None:
        """Why the recording cannot be trusted: another thread had a hand in what is on the tapes."""
        if self.conflict is not None:
            return self.conflict
        foreign = [e for extents in self._foreign.values() for e in extents]
        if foreign and any(e.overlaps(f) for e in _on_tapes(operations) for f in foreign):
            return (
                "Another thread of the program works on arrays that the tapes use too; its calls are not looked into."
            )
        return None


def _on_tapes(operations: Sequence[Operation]) -> set[Extent]:
    """What tapes touch, with the gradients, and what that was made of off the tapes."""
    found: set[Extent] = set()
    for operation in reversed(operations):
        touched = {a.ref.extent for a in operation.accesses}
        made = {a.ref.extent for a in operation.accesses if a.usage.writes}
        if operation.tape is not None or any(m.overlaps(e) for m in made for e in found):
            found |= touched
            found |= {g for a in operation.accesses if (g := a.ref.gradient_extent) is not None}
    return found
