"""Why a search for the minimum ended."""

from __future__ import annotations

from enum import Enum


class Stopping(Enum):
    """Reasons; the value is the whole message, with what to try."""

    GRADIENT = "The gradient is zero to within its tolerance: a minimum."
    STEP = "Steps have become too small to change the unknowns: a minimum to within rounding."
    OBJECTIVE = "The objective no longer falls noticeably: a minimum to within the tolerance."
    ITERATIONS = "The limit of iterations was reached before a minimum; allow more, or start nearer."
    STUCK = (
        "No step, however short, lowers the objective although the gradient is not zero; the gradient or the "
        "tolerance may be wrong."
    )
    INVALID_START = (
        "The simulation's steps are too long at the first guess; give it more substeps or another first guess."
    )

    @property
    def is_converged(self) -> bool:
        """Whether a minimum was found."""
        return self in (Stopping.GRADIENT, Stopping.STEP, Stopping.OBJECTIVE)
