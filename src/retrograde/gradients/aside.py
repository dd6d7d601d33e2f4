"""A function without side effects over several arguments, half of them in a forked copy of this process.

Warp's CPU kernels run on one thread; a copy brings the second core to bear on measurements that do not depend on
each other. Where the process cannot be forked, or the copy fails, this process does everything itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from typing import TypeVar

from retrograde.gradients.execution import can_fork
from retrograde.gradients.pipes import receive, send

Given = TypeVar("Given")
Found = TypeVar("Found")

WORTHWHILE = 0.05
"""Work that a copy would take over [s], below which making the copy costs more than it saves."""


def side_by_side(function: Callable[[Given], Found], arguments: Sequence[Given], seconds: float) -> list[Found]:
    """Results of a function for each argument, in order.

    Args:
        function: Must have no effect but its result, which can be pickled.
        arguments: What to call it with.
        seconds: About how long one call takes.
    """
    theirs = range(1, len(arguments), 2)
    if len(theirs) * seconds < WORTHWHILE or not can_fork():
        return [function(argument) for argument in arguments]
    read, process = _start(function, [arguments[n] for n in theirs])
    found: dict[int, Found] = {}
    try:
        for n in range(0, len(arguments), 2):
            found[n] = function(arguments[n])
        reply: list[Found] | None = receive(read)
    finally:
        os.close(read)
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    for position, n in enumerate(theirs):
        found[n] = function(arguments[n]) if reply is None else reply[position]
    return [found[n] for n in range(len(arguments))]


def _start(function: Callable[[Given], Found], arguments: Sequence[Given]) -> tuple[int, int]:
    """Fork a copy that computes and replies; returns where to read the reply, and the copy's process id."""
    read, write = os.pipe()
    process = os.fork()
    if process:
        os.close(write)
        return read, process
    try:
        os.close(read)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        send(write, [function(argument) for argument in arguments])
    finally:
        os._exit(0)
