"""The result of an audit: what reports are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from retrograde.causes.finding import Finding
from retrograde.gradients.contrast import Against
from retrograde.gradients.reruns import Rerun
from retrograde.gradients.rungs import Ladder
from retrograde.stock.words import Stock


class Verdict(Enum):
    """What an audit concludes; the value is the word in the report."""

    RIGHT = "right"
    WRONG = "wrong"
    UNDECIDED = "undecided"
    NOTHING_TO_CHECK = "nothing-to-check"
    NOT_RUN = "not-run"


@dataclass(frozen=True)
class Loss:
    """What an objective was in one iteration of the program's own run.

    Attributes:
        iteration: Zero-based iteration.
        objective: What the program calls it.
        value: Its value, in the program's units.
    """

    iteration: int
    objective: str
    value: float


@dataclass(frozen=True)
class Used:
    """A gradient that was used, for comparisons.

    Attributes:
        consumed, reference: Norms of the gradient used and of the measured one; None where unknown.
        error: Distance between the two relative to the measured one; None where unknown.
    """

    consumed: float | None
    reference: float | None
    error: float | None


@dataclass(frozen=True)
class GradientChange:
    """One parameter in one iteration of an earlier audit and of this one; None where an audit did not judge it."""

    parameter: str
    iteration: int
    before: Used | None
    now: Used | None


@dataclass(frozen=True)
class LossChange:
    """An objective in one iteration of an earlier audit and of this one; None where an audit did not see it."""

    iteration: int
    objective: str
    before: float | None
    now: float | None


@dataclass(frozen=True)
class Comparison:
    """What changed since an earlier audit.

    Attributes:
        source: Where the earlier report was read from.
        verdict: The earlier verdict.
        gone, new, remaining: Causes that only the earlier audit found, that only this one did, and that both did.
        gradients, losses: Numbers of both.
    """

    source: str
    verdict: Verdict
    gone: tuple[Finding, ...] = ()
    new: tuple[Finding, ...] = ()
    remaining: tuple[Finding, ...] = ()
    gradients: tuple[GradientChange, ...] = ()
    losses: tuple[LossChange, ...] = ()


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
        accepted: Causes that were found and had been declared intended.
        ladder: Four gradients of every judged parameter and iteration.
        losses: The objectives of every iteration that was seen.
        checked, not_checked: What was looked at, and what was not and why, a sentence each.
        seconds: Time of the whole audit [s].
        overhead: Time of the whole audit over the program's own run time, None where unknown.
        against: How the gradients differ from another implementation's, where those were given.
        reruns: How to measure the slopes of each ladder again, where that was asked for.
        stock: What Warp's own checks say of the program, where they were asked.
        comparison: What changed since an earlier audit, where one was given.
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
    accepted: tuple[Finding, ...] = ()
    ladder: tuple[Ladder, ...] = ()
    losses: tuple[Loss, ...] = ()
    checked: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    seconds: float = 0.0
    overhead: float | None = field(default=None)
    against: Against | None = None
    reruns: tuple[Rerun, ...] = ()
    stock: tuple[Stock, ...] = ()
    comparison: Comparison | None = None
