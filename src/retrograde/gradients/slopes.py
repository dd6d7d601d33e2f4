"""What gradients predict along a direction, and whether a measured slope admits it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from retrograde.gradients.differences import Derivative
from retrograde.gradients.rungs import Direction

Float = npt.NDArray[np.float64]


def along(gradient: Float, vector: Float) -> float:
    """Slope that a gradient predicts along a direction."""
    with np.errstate(invalid="ignore"):
        used = np.where(vector == 0.0, 0.0, gradient)
        return float(np.sum(used * vector))


def moves_several(direction: Direction) -> bool:
    """Whether a direction moves more than one element."""
    return bool(np.count_nonzero(direction.vector) > 1)


def admits(direction: Direction, predicted: float | None) -> bool | None:
    """Whether a measured slope admits a predicted one; None where the measurement says nothing.

    A line that moves several elements may lead across several kinks at once. Each has a derivative of its own choice,
    and the choices need not be those of one side of the line: what they add up to may lie beyond both.
    """
    if predicted is None or not np.isfinite(direction.error):
        return None
    derivative = Derivative(
        direction.reference, direction.error, direction.step, 0.0, left=direction.left, right=direction.right
    )
    if derivative.kink and moves_several(direction):
        return derivative.admits(predicted) or None
    return derivative.admits(predicted)
