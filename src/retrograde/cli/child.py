"""The process in which an audited program runs: `python -P -m retrograde.cli.child FOLDER`."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from retrograde.cli.exchange import UNDELIVERED, Exchange
from retrograde.conditions import own_conditions
from retrograde.request import AuditRequest
from retrograde.result import Audit, Verdict
from retrograde.warp_version import is_of_warp, unsuitable


class Run(Protocol):
    """What conducts an audit: `retrograde.audit.run`."""

    def __call__(
        self,
        request: AuditRequest,
        progress: Callable[[str], None],
        deliver: Callable[[Audit], None] | None = None,
        keep: Callable[[Audit], None] | None = None,
    ) -> Audit:
        """Audit the program of `request` in this process."""
        ...


def serve(folder: Path, run: Run) -> None:
    """Conduct the audit whose request lies in `folder`, and leave its result there.

    A failure of the audit itself is shown and leaves an undecided result: it says nothing about the program.
    """
    exchange = Exchange(folder)
    request = exchange.read_request()
    start = time.perf_counter()
    deliver = partial(_deliver, exchange)
    try:
        audit = run(request, progress=exchange.say, deliver=deliver, keep=exchange.write_provisional)
    except KeyboardInterrupt:
        # Python ends itself by the signal once all is cleaned up; whose traceback it is nobody needs to know.
        sys.excepthook = _say_nothing
        raise
    except Exception as error:
        traceback.print_exc()
        audit = Audit(
            Verdict.UNDECIDED,
            f"The audit itself failed: {traceback.format_exception_only(error)[-1].strip()}",
            script=request.program,
            args=request.args,
            seconds=time.perf_counter() - start,
        )
    with own_conditions():
        deliver(audit)


def _deliver(exchange: Exchange, audit: Audit) -> None:
    """Leave the result; without one the process ends by a status that tells why."""
    try:
        exchange.write_result(audit)
    except OSError:
        os._exit(UNDELIVERED)


def _say_nothing(*_error: object) -> None:
    pass


def main() -> None:
    """Serve the folder that the command line names."""
    serve(Path(sys.argv[1]), _conductor())


def _conductor() -> Run:
    """What conducts the audit; with a Warp that it cannot observe, what says so."""
    try:
        from retrograde.audit import run
    except (ImportError, AttributeError) as error:
        # Of another package, or of ours, it is a failure of ours, and its traceback is wanted.
        if not is_of_warp(error):
            raise
        return _Refusal(unsuitable(error))
    return run


@dataclass(frozen=True)
class _Refusal:
    reason: str

    def __call__(self, request: AuditRequest, *_: object, **__: object) -> Audit:
        return Audit(Verdict.UNDECIDED, self.reason, script=request.program, args=request.args)


if __name__ == "__main__":
    main()
