"""Conducts one audit in a process of its own, and leaves nothing of it behind."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from retrograde.cli.exchange import UNDELIVERED, Exchange
from retrograde.cli.process_group import ProcessGroup
from retrograde.cli.progress import Progress
from retrograde.cli.signals import StopFlag, stop_flag
from retrograde.request import LIMIT, RUNNING, AuditRequest
from retrograde.result import Audit, Verdict

CHILD = (sys.executable, "-P", "-m", "retrograde.cli.child")
"""The command that serves a request; the folder of its exchange follows."""

Child = Sequence[str] | Callable[[Path], None]

_POLL = 0.03
_GRACE = 5.0
_GRACE_SHARE = 0.2
_FAREWELL = 2.0


class Interrupted(Exception):
    """The user, or the system, asked the command to stop.

    Attributes:
        signal: Number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.signal = number


def supervise(
    request: AuditRequest,
    *,
    stdout: int | None = None,
    progress: Progress,
    child: Child = CHILD,
) -> Audit:
    """Audit the program of `request` in a process group of its own.

    Whatever happens, the group has ended and the exchange is removed when this returns or raises.

    Args:
        request: What to audit.
        stdout: File descriptor that takes the program's standard output; None leaves it where it is.
        progress: Shows what is being done.
        child: What serves the request: a command that the folder of its exchange follows, or a function of that folder,
            for a copy of this process.

    Raises:
        Interrupted: A signal asked to stop, or the program was interrupted at the terminal.
    """
    start = time.monotonic()
    try:
        return _conduct(request, stdout, progress, child, start)
    except OSError as error:  # no temporary folder, no room in it, no room for a process
        return _failed(request, error.strerror or str(error), time.monotonic() - start)


def _conduct(request: AuditRequest, stdout: int | None, progress: Progress, child: Child, start: float) -> Audit:
    with stop_flag() as flag, tempfile.TemporaryDirectory(prefix="retrograde-", ignore_cleanup_errors=True) as folder:
        exchange = Exchange(Path(folder))
        exchange.write_request(replace(request, scratch=folder))
        begin = partial(child, Path(folder)) if callable(child) else [*child, folder]
        group = ProcessGroup(begin, stdout=stdout)
        overdue = False
        try:
            overdue = _follow(group, exchange, flag, progress, _deadline(request, start))
        finally:
            progress.clear()
            # The program gets the signal that it would have got without the audit, and so can clean up after itself.
            group.end(flag.signal or (signal.SIGINT if overdue else signal.SIGTERM))
        if flag.signal is not None:
            raise Interrupted(flag.signal)
        audit = exchange.read_result()
        if audit is not None:
            return audit
        if group.status == -signal.SIGINT and not overdue:
            raise Interrupted(signal.SIGINT)
        said = exchange.last_said()
        known = exchange.read_provisional()
    seconds = time.monotonic() - start
    status = group.status or 0
    how = "was stopped at the end of its budget" if overdue else _ended(status)
    if known is not None:
        return _cut_short(known, how, said, seconds)
    if overdue:
        return _overdue(request, said, seconds)
    if said not in ("", RUNNING) or status == UNDELIVERED:
        return _failed(request, f"its process {how}, {said}" if said else how, seconds)
    return _not_run(request, how, seconds)


def _budget(request: AuditRequest) -> float:
    return LIMIT if request.budget is None else request.budget


def _deadline(request: AuditRequest, start: float) -> float:
    budget = _budget(request)
    return start + budget + max(_GRACE, _GRACE_SHARE * budget)


def _follow(group: ProcessGroup, exchange: Exchange, flag: StopFlag, progress: Progress, deadline: float) -> bool:
    """Follow the process until it ends, has left its result, or must be ended; whether it is overdue."""
    while group.poll() is None and flag.signal is None:
        if exchange.has_result():
            # Threads and exit handlers of the program may keep the process: it has a moment to end by itself.
            group.wait(_FAREWELL)
            return False
        if time.monotonic() > deadline:
            return True
        progress.show(exchange.last_said())
        time.sleep(_POLL)
    return False


def _cut_short(known: Audit, how: str, said: str, seconds: float) -> Audit:
    """What was known when the audit ended in the middle of what it did next."""
    line = f"The audit {how}, {said}: what that would have found is missing."
    return replace(known, not_checked=(*known.not_checked, line), seconds=seconds)


def _overdue(request: AuditRequest, said: str, seconds: float) -> Audit:
    doing = f" The last thing it did: {said}." if said else ""
    return Audit(
        Verdict.UNDECIDED,
        f"The audit did not end within its budget of {_budget(request):g} s, and was stopped.{doing}",
        script=request.program,
        args=request.args,
        not_checked=("Everything: the program ran longer than the budget. --budget SECONDS gives it more time.",),
        seconds=seconds,
    )


def _failed(request: AuditRequest, why: str, seconds: float) -> Audit:
    return Audit(
        Verdict.UNDECIDED,
        f"The audit itself failed: {why}.",
        script=request.program,
        args=request.args,
        seconds=seconds,
    )


def _ended(status: int) -> str:
    if status == UNDELIVERED:
        return f"found no room for its result in {tempfile.gettempdir()}"
    if status == -signal.SIGKILL:
        return "was ended by SIGKILL (Killed), as the system does when memory runs out"
    if status < 0:
        return f"was ended by {signal.Signals(-status).name} ({signal.strsignal(-status)})"
    return f"ended its process itself, with status {status}, before anything could be judged"


def _not_run(request: AuditRequest, how: str, seconds: float) -> Audit:
    return Audit(
        Verdict.NOT_RUN,
        f"The program {how}.",
        script=request.program,
        args=request.args,
        seconds=seconds,
    )
