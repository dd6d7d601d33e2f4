"""Serves a request with a judge that runs the program, and calls right what ran."""

import sys
from collections.abc import Callable
from pathlib import Path

from retrograde.cli.child import serve
from retrograde.program import execute
from retrograde.request import AuditRequest
from retrograde.result import Audit, Verdict


def run(request: AuditRequest, progress: Callable[[str], None], **_options: object) -> Audit:
    progress("running the program")
    ending = execute(request)
    return Audit(
        Verdict.RIGHT if ending.ran else Verdict.NOT_RUN,
        ending.reason or "It ran.",
        script=request.program,
        args=request.args,
    )


serve(Path(sys.argv[1]), run)
