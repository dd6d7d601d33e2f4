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


def admits(direction: Direction, predicted: float | None) -> bool | None:
    """Whether a measured slope admits a predicted one; None where the measurement says nothing."""
    if predicted is None or not np.isfinite(direction.error):
        return None
    derivative = Derivative(
        direction.reference, direction.error, direction.step, 0.0, left=direction.left, right=direction.right
    )
    return derivative.admits(predicted)
