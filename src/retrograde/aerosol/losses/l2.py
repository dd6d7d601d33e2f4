"""Squared difference of size spectra."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import Float64, Float64Array, Float64Matrix, Int32, WarpArray, shape_of, wp
from retrograde.aerosol.losses._target import on_device
from retrograde.aerosol.losses.base import Operation, TargetLoss
from retrograde.aerosol.states import SectionalState

_TWO = wp.constant(wp.float64(2.0))


@dataclass(frozen=True, eq=False)
class L2Loss(TargetLoss):
    """Integral over ln D of the squared difference of dN/dlnD from the target's, over scale^2.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.
        scale: Difference in dN/dlnD that counts as one [m^-3].

    Raises:
        ValueError: The scale is not positive, or the target holds negative or non-finite values.
    """

    target: SectionalState
    scale: float
    _goal: WarpArray = field(init=False, repr=False)
    _weights: WarpArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_positive("scale", self.scale, "m^-3")
        self.target.check_values()
        object.__setattr__(self, "_goal", on_device(self.target.numpy(), self.target))
        object.__setattr__(self, "_weights", on_device(1.0 / self.target.grid.ln_widths / self.scale**2, self.target))

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        return [Operation(l2_loss, shape_of(loss)[0], [number, self._goal, self._weights], [loss])]


@wp.func
def weighted_squares(number: Float64Matrix, goal: Float64Matrix, weights: Float64Array, box: Int32) -> Float64:
    """Weighted sum of squared differences."""
    total = wp.float64(0.0)
    row = wp.min(box, goal.shape[0] - 1)
    for i in range(number.shape[1]):
        difference = number[box, i] - goal[row, i]
        total += weights[i] * difference * difference
    return total


@wp.func_grad(weighted_squares)
def adjoint_weighted_squares(
    number: Float64Matrix, goal: Float64Matrix, weights: Float64Array, box: Int32, cotangent: Float64
):
    """D / d number[i] = 2 weights[i] (number[i] - goal[i])."""
    row = wp.min(box, goal.shape[0] - 1)
    for i in range(number.shape[1]):
        wp.adjoint[number][box, i] += _TWO * weights[i] * (number[box, i] - goal[row, i]) * cotangent


@wp.kernel
def l2_loss(number: Float64Matrix, goal: Float64Matrix, weights: Float64Array, loss: Float64Array):
    """Launched over [boxes]."""
    box = wp.tid()
    loss[box] = weighted_squares(number, goal, weights, box)
