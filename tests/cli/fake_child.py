"""Serves a request with a judge that runs the program, and calls right what ran.

Told to linger, it calls the program wrong and then looks for causes for ever; told to die, it is killed then, having
called the program wrong only if told that this is known.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from retrograde.cli.child import serve
from retrograde.program import execute
from retrograde.request import AuditRequest
from retrograde.result import Audit, Verdict


def run(
    request: AuditRequest, progress: Callable[[str], None], keep: Callable[[Audit], None], **_options: object
) -> Audit:
    progress("running the program")
    ending = execute(request)
    if "linger" in request.args:
        keep(Audit(Verdict.WRONG, "It differs.", script=request.program, unexplained=1.0, not_checked=("A.",)))
        progress("looking for causes")
        time.sleep(10_000)
    if "die" in request.args:
        if "known" in request.args:
            keep(Audit(Verdict.WRONG, "It differs.", script=request.program, unexplained=1.0, not_checked=("A.",)))
        progress("looking for causes")
        os.kill(os.getpid(), signal.SIGKILL)
    return Audit(
        Verdict.RIGHT if ending.ran else Verdict.NOT_RUN,
        ending.reason or "It ran.",
        script=request.program,
        args=request.args,
    )


serve(Path(sys.argv[1]), run)
