"""The result of an audit: what reports are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from retrograde.causes.finding import Finding
from retrograde.gradients.rungs import Ladder


class Verdict(Enum):
    """What an audit concludes; the value is the word in the report."""

    RIGHT = "right"
    WRONG = "wrong"
    UNDECIDED = "undecided"
    NOTHING_TO_CHECK = "nothing-to-check"
    NOT_RUN = "not-run"


@dataclass(frozen=True)
class Audit:
    """The result of one audit.

    Attributes:
        verdict: The conclusion.
        reason: One sentence that says why.
        script, args: The program and its arguments.
        warp: Warp's version.
        device: Device the judged parameters live on.
        unexplained: Share of the consumed gradient's error that no cause explains, 0 to 1.
        causes: Faults, in program order.
        remarks: RG5xx findings.
        ladder: Four gradients of every judged parameter and iteration.
        checked, not_checked: What was looked at, and what was not and why, a sentence each.
        seconds: Time of the whole audit [s].
        overhead: Time of the whole audit over the program's own run time, None where unknown.
    """

    verdict: Verdict
    reason: str
    script: str = ""
    args: tuple[str, ...] = ()
    warp: str = ""
    device: str = ""
    unexplained: float = 0.0
    causes: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    ladder: tuple[Ladder, ...] = ()
    checked: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    seconds: float = 0.0
    overhead: float | None = field(default=None)
