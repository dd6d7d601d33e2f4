"""Serves a request with a judge that runs the program, and calls right what ran."""

import sys
from collections.abc import Callable
from pathlib import Path

from retrograde.audit import Audit, Verdict
from retrograde.cli.child import serve
from retrograde.program import End, execute
from retrograde.request import AuditRequest


def run(request: AuditRequest, progress: Callable[[str], None]) -> Audit:
    progress("running the program")
    ending = execute(request)
    lost = ending.end in (End.RAISED, End.NOT_FOUND)
    return Audit(
        Verdict.NOT_RUN if lost else Verdict.RIGHT,
        ending.reason or "It ran.",
        script=request.program,
        args=request.args,
    )


serve(Path(sys.argv[1]), run)
