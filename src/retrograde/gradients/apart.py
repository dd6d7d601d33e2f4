"""Runs something in a copy of this process, where a crash costs only the answer.

A backward pass that takes indices from a counter again may write anywhere.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def apart(function: Callable[[], T], limit: int = 60) -> T | None:
    """What a function returns, None where the copy died, took too long, or cannot be made.

    Args:
        function: The function; what it returns must be picklable, and what it changes stays unchanged here.
        limit: The time it may take [s].
    """
    if sys.platform == "win32" or not hasattr(os, "fork"):
        return None
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        _answer(function, write, limit)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        data = answers.read()
    _, status = os.waitpid(process, 0)
    return pickle.loads(data) if status == 0 and data else None


def _answer(function: Callable[[], object], write: int, limit: int) -> None:
    """Run in the copy; never returns."""
    status = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(limit)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(null, stream)
        data = pickle.dumps(function())
        with os.fdopen(write, "wb") as answers:
            answers.write(data)
        status = 0
    finally:
        os._exit(status)
