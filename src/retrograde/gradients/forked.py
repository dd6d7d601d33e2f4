"""Work in a forked copy of this process: beside it on another core, or apart from it, where a crash costs nothing.

Warp's CPU kernels run on one thread; a copy brings the second core to bear on work that does not depend on ours. And
what may write anywhere, such as a backward pass that takes indices from a counter again, does so in a copy.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from retrograde.gradients.execution import can_fork, try_to_fork
from retrograde.gradients.pipes import receive, send

Given = TypeVar("Given")
Found = TypeVar("Found")

WORTHWHILE = 0.05
"""Work that a copy would take over [s], below which making the copy costs more than it saves."""

LIMIT = 60
"""How long work that may crash may take [s]."""


@dataclass(eq=False)
class Copy(Generic[Found]):
    """A copy of this process that works on one function.

    Attributes:
        answers: Descriptor of the pipe that it answers through.
        process: Its process id.
    """

    answers: int
    process: int

    def answer(self) -> tuple[Found] | None:
        """What the function returned, None where the copy died or took too long. Ends the copy."""
        try:
            return receive(self.answers) if self.process else None
        finally:
            self.end()

    def end(self) -> None:
        """End the copy, whatever it does."""
        if self.process:
            os.close(self.answers)
            with contextlib.suppress(OSError):
                os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = 0


def cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def begin_copy(function: Callable[[], Found], limit: int | None = None) -> Copy[Found]:
    """Fork a copy of this process that works on a function.

    Where the system allows no further process, the copy is one that died at once.

    Args:
        function: What it returns must be picklable; what it changes stays unchanged here.
        limit: Time after which the copy ends without an answer [s]; None lets it work until it is ended.
    """
    read, write = os.pipe()
    process = try_to_fork()
    if process is None:
        os.close(read)
        os.close(write)
        return Copy[Found](-1, 0)
    if process == 0:
        os.close(read)
        _answer(function, write, limit)
    os.close(write)
    return Copy[Found](read, process)


def _answer(function: Callable[[], object], write: int, limit: int | None) -> None:
    """Work in the copy; never returns."""
    try:
        if limit is not None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(limit)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        send(write, (function(),))
    finally:
        os._exit(0)


def apart(function: Callable[[], Found], limit: int = LIMIT) -> Found | None:
    """What a function returns that may crash, None where it does, takes too long, or a copy cannot be made.

    Args:
        function: The function; what it returns must be picklable, and what it changes stays unchanged here.
        limit: The time it may take [s].
    """
    if not hasattr(os, "fork"):
        return None
    answer = begin_copy(function, limit).answer()
    return None if answer is None else answer[0]


def side_by_side(function: Callable[[Given], Found], arguments: Sequence[Given], seconds: float) -> list[Found]:
    """Results of a function for each argument, in order; every other one is computed in a copy.

    Where the process cannot be forked or has one core alone, or the copy fails, this process does everything itself.

    Args:
        function: Must have no effect but its result, which can be pickled.
        arguments: What to call it with.
        seconds: About how long one call takes.
    """
    if (len(arguments) // 2) * seconds < WORTHWHILE or cores() == 1 or not can_fork():
        return [function(argument) for argument in arguments]
    copy = begin_copy(lambda: [function(argument) for argument in arguments[1::2]])
    try:
        mine = [function(argument) for argument in arguments[0::2]]
        answer = copy.answer()
    finally:
        copy.end()
    others = [function(argument) for argument in arguments[1::2]] if answer is None else answer[0]
    return [(others if n % 2 else mine)[n // 2] for n in range(len(arguments))]
