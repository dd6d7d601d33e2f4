"""A process with all that it starts, as one thing that can be ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from retrograde.cli.forked import Forked, fork

_POLL = 0.02
_PATIENCE = 1.0


class ProcessGroup:
    """A process in a group of its own.

    The group lets everything that the program started be ended with it. A shell would give such a group the terminal;
    here the command keeps it, so that Ctrl-C reaches the command, and lends it to the group only once a process in
    there reads from it.

    Args:
        begin: Program and arguments; or a function, which a copy of this process runs.
        stdout: File descriptor that takes its standard output; None inherits.
    """

    def __init__(self, begin: Sequence[str] | Callable[[], None], *, stdout: int | None = None) -> None:
        self._lent = False
        self._process: subprocess.Popen[bytes] | Forked
        if callable(begin):
            self._process = fork(begin, stdout)
        elif sys.platform == "win32":
            self._process = subprocess.Popen(begin, stdout=stdout, creationflags=subprocess.CREATE_NEW_PROCESS_GROUP)
        else:
            self._process = subprocess.Popen(begin, stdout=stdout, process_group=0)

    @property
    def status(self) -> int | None:
        """Exit status of the process, negative for the signal that ended it; None while it runs."""
        return self._process.returncode

    def poll(self) -> int | None:
        """Look whether the process has ended: its `status`."""
        if sys.platform == "win32":
            return self._process.poll()
        if self._process.returncode is None:
            pid, status = os.waitpid(self._process.pid, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):
                self._resume(os.WSTOPSIG(status))
            elif pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
        return self._process.returncode

    def wait(self, seconds: float) -> bool:
        """Wait for the process to end, at most so long [s]; whether it did."""
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL)
        return True

    def end(self, request: int = signal.SIGTERM) -> None:
        """End every process of the group that is left: by a signal that asks for it, by force a second later."""
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(self._process.pid)], capture_output=True, check=False)
            self._process.wait()
            return
        if self.poll() is None:
            self._signal(request)
            self._signal(signal.SIGCONT)
            self.wait(_PATIENCE)
        self._signal(signal.SIGKILL)
        while self.poll() is None:
            time.sleep(_POLL)
        self._take_terminal_back()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _resume(self, stopped_by: int) -> None:
        if stopped_by in (signal.SIGTTIN, signal.SIGTTOU) and not self._lent:
            self._lent = _in_foreground() and _give_terminal(self._process.pid)
            if self._lent:
                self._signal(signal.SIGCONT)

    def _take_terminal_back(self) -> None:
        if self._lent:
            _give_terminal(os.getpgrp())
            self._lent = False


def _in_foreground() -> bool:
    """Whether this process holds the terminal: one in the background must not take it from the shell."""
    return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()


def _give_terminal(group: int) -> bool:
    with _ignoring(signal.SIGTTOU):
        try:
            os.tcsetpgrp(sys.stdin.fileno(), group)
        except OSError:
            return False
    return True


@contextmanager
def _ignoring(number: signal.Signals) -> Generator[None]:
    previous = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, previous)
