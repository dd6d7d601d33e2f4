"""Audits the gradient of one inversion."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from retrograde.cli.progress import Progress
from retrograde.cli.supervise import CHILD, supervise
from retrograde.gradients.execution import can_fork
from retrograde.report.measures import relative_error
from retrograde.request import AuditRequest

if TYPE_CHECKING:
    from retrograde.aerosol.inversion.certificate import Certificate
    from retrograde.aerosol.inversion.recovering import Recovery

_STDERR = 2
_BUDGET = 60.0


def certify(recovery: Recovery, progress: Progress) -> Certificate:
    """Audit the gradient that an inversion followed, on its own problem, in a process of its own.

    The process is a copy of this one where one can be made: all that it needs is loaded already.

    Args:
        recovery: The inversion.
        progress: Shows what is being done.

    Raises:
        Interrupted: A signal asked to stop.
    """
    from retrograde.aerosol.inversion.certificate import PROGRAM, Certificate, write_certificate_input

    with tempfile.TemporaryDirectory(prefix="retrograde-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "problem.npz"
        write_certificate_input(path, recovery.problem, recovery.minimum.x, recovery.minimum.curve.strength)
        request = AuditRequest(module=PROGRAM, args=(str(path),), budget=_BUDGET)
        progress.clear()  # its thread must not be at work when the process is copied
        child = _serve if can_fork() else CHILD
        audit = supervise(request, stdout=_STDERR, progress=progress, child=child)
    errors = [relative_error(ladder, "consumed") for ladder in audit.ladder]
    known = [error for error in errors if error is not None]
    return Certificate(audit.verdict.value, max(known) if known else None, audit.reason, audit.seconds)


def _serve(folder: Path) -> None:
    from retrograde.audit import run
    from retrograde.cli.child import serve

    serve(folder, run)
