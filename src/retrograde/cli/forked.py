"""A copy of this process that runs one function, in a process group of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from retrograde.cli.signals import STOPS


@dataclass(eq=False)
class Forked:
    """A copy of this process.

    Attributes:
        pid: Its process id.
        returncode: Exit status, negative for the signal that ended it; None while it runs, or nobody has looked.
    """

    pid: int
    returncode: int | None = None


def fork(function: Callable[[], None], stdout: int | None = None) -> Forked:
    """Run a function in a copy of this process, which no thread but this one is part of.

    Nothing that this process would clean up at its end is cleaned up by the copy.

    Args:
        function: What the copy runs. It may write to the standard streams.
        stdout: File descriptor that takes the copy's standard output; None leaves it where it is.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        _run(function, stdout)
    with contextlib.suppress(OSError):  # the copy does it too, whoever comes first
        os.setpgid(process, process)
    return Forked(process)


def _run(function: Callable[[], None], stdout: int | None) -> None:
    """Run the function in the copy; never returns."""
    status = 1
    try:
        os.setpgid(0, 0)
        if stdout is not None:
            os.dup2(stdout, 1)
        _answer_signals()
        function()
        status = 0
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _answer_signals() -> None:
    """End by the signals that this process collects, as a program just started would."""
    for number in STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
