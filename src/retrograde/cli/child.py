"""The process in which an audited program runs: `python -P -m retrograde.cli.child FOLDER`."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from retrograde.cli.exchange import Exchange
from retrograde.request import AuditRequest
from retrograde.result import Audit, Verdict


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
    try:
        audit = run(request, progress=exchange.say, deliver=exchange.write_result, keep=exchange.write_provisional)
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
    exchange.write_result(audit)


def _say_nothing(*_error: object) -> None:
    pass


def main() -> None:
    """Serve the folder that the command line names."""
    from retrograde.audit import run

    serve(Path(sys.argv[1]), run)


if __name__ == "__main__":
    main()
