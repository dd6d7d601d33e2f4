"""Objectives that jump, such as images of what rays hit: they have a derivative between the jumps alone.

Differences of the objective mix it with the jumps. The adjoint of each recorded launch can still be tested, along the
arrays that move hardly any of its outputs over a jump, by those outputs that do not jump.
"""

from __future__ import annotations

import numpy as np

from retrograde.gradients.ladder import Case
from retrograde.gradients.opinion import Opinion
from retrograde.gradients.slopes import along

BEYOND_SLOPES = "what its jumps add to a change of the objective, as where edges move, is in no derivative"
"""What is not checked of such an objective."""

_RESOLVED = 1e-2


def between_jumps(case: Case, certified: bool) -> tuple[Opinion, str]:
    """The opinion on a gradient of an objective that jumps, and why.

    It is wrong where a launch's own test refutes the launch's adjoint, and an adjoint that passes changes the gradient.

    Args:
        case: Its ideal gradient is made of adjoints that pass, where there are such.
        certified: Whether the recorded launches are all there is, and none has an adjoint that does not pass.
    """
    consumed = case.life.consumed
    assert consumed is not None
    jumps = "The objective jumps, so that its differences show no slope."
    if not certified or not np.all(np.isfinite(case.ideal)):
        return Opinion.UNDECIDED, jumps
    gap = float(np.linalg.norm(consumed - case.ideal)) / max(float(np.linalg.norm(case.ideal)), 1e-300)
    if not gap > _RESOLVED:
        return Opinion.UNDECIDED, f"{jumps} No test of a launch alone refutes the gradient used."
    first = case.directions[0]
    slope, used = along(case.ideal, first.vector), along(consumed, first.vector)
    return Opinion.WRONG, (
        f"{jumps} Between the jumps it has one, which adjoints that pass the launches' own tests put at {slope:.6g} "
        f"along {first.label}; the gradient used says {used:.6g}."
    )
