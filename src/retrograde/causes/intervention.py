"""Suspects, and what an intervention on the replay proved of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retrograde.causes.finding import Evidence
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import NOWHERE, CallSite, is_user_file
from retrograde.trace.operations import Operation

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Suspect:
    """A fault that may be there, and the change of the replay that tells.

    Attributes:
        code: Code of the cause.
        site: The user's line.
        order: Operation index, for program order.
        message, fix: For the report.
        array, route: As in `Finding`.
        switch_off: Puts the fault back into the ideal gradient; None where the fault is in the use of a
            right gradient.
        repaired: What would have been consumed without the fault, where the fault is in the use.
        follows: The gradient that must be in use for the repair to apply: it undoes what came before.
        scale: The exact factor, where the error is one.
        evidence: Numbers to report.
    """

    code: str
    site: CallSite
    order: int
    message: str
    fix: str
    array: str | None = None
    route: str | None = None
    switch_off: Callable[[Policy], Policy] | None = None
    repaired: Float | None = None
    follows: Float | None = None
    scale: float | None = None
    evidence: Evidence = field(default_factory=dict[str, "float | int | str | bool | list[float] | None"])


Find = Callable[[Judgement], list[Suspect]]
Remark = Callable[[Sequence[Judgement]], list[Suspect]]


def gap(a: Float, b: Float) -> float:
    """Size of the difference of two gradients; infinite where one is not finite and the other is."""
    finite = np.isfinite(a) == np.isfinite(b)
    if not np.all(finite):
        return float("inf")
    both = np.isfinite(a)
    return float(np.linalg.norm((a - b)[both]))


def size(a: Float) -> float:
    """Norm of the finite part."""
    return float(np.linalg.norm(a[np.isfinite(a)]))


def resolution(case: Case) -> float:
    """Size of a difference that rounding alone may make."""
    scalar = case.life.ref.scalar
    assert scalar is not None
    eps = float(np.finfo(scalar).eps)
    sizes = [size(case.ideal)]
    if case.life.consumed is not None:
        sizes.append(size(case.life.consumed))
    return 256.0 * eps * max(sizes)


def place(site: CallSite) -> tuple[str | None, int | None]:
    """File and line of a call site for a finding."""
    return (None, None) if site is NOWHERE or not site.file else (site.file, site.line)


def kernel_site(operation: Operation) -> CallSite:
    """Where the kernel of a launch is defined; of a kernel of Warp's own, the program's line that has it launched."""
    assert operation.launch is not None
    kernel = operation.launch.kernel
    if not is_user_file(kernel.adj.filename):
        return operation.site
    return CallSite(kernel.adj.filename, int(kernel.adj.fun_lineno), str(kernel.key))
