"""Audits the gradient of one inversion."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from retrograde.cli.progress import Progress
from retrograde.cli.supervise import supervise
from retrograde.report.measures import relative_error
from retrograde.request import AuditRequest

if TYPE_CHECKING:
    from retrograde.aerosol.inversion.certificate import Certificate
    from retrograde.aerosol.inversion.recovering import Recovery

_STDERR = 2
_BUDGET = 60.0


def certify(recovery: Recovery) -> Certificate:
    """Audit the gradient that an inversion followed, on its own problem, in a process of its own.

    Raises:
        Interrupted: A signal asked to stop.
    """
    from retrograde.aerosol.inversion.certificate import PROGRAM, Certificate, write_certificate_input

    with tempfile.TemporaryDirectory(prefix="retrograde-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "problem.npz"
        write_certificate_input(path, recovery.problem, recovery.minimum.x, recovery.minimum.curve.strength)
        request = AuditRequest(module=PROGRAM, args=(str(path),), budget=_BUDGET)
        audit = supervise(request, stdout=_STDERR, progress=Progress(Console(stderr=True)))
    errors = [relative_error(ladder, "consumed") for ladder in audit.ladder]
    known = [error for error in errors if error is not None]
    return Certificate(audit.verdict.value, max(known) if known else None, audit.reason, audit.seconds)
