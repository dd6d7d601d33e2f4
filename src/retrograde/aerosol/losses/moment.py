"""Loss on a total: number, volume or any other moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import Float64, Float64Array, Float64Matrix, Int32, WarpArray, shape_of, to_device, wp
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.losses.base import Operation, SizeDistributionLoss

Floats = NDArray[np.float64]

_TWO = wp.constant(wp.float64(2.0))


@dataclass(frozen=True, eq=False)
class MomentLoss(SizeDistributionLoss):
    """((M - target) / scale)^2, with M the sum of number times pivot volume to a power.

    Attributes:
        grid: Size bins.
        order: Power of the volume: 0 for the number, 1 for the volume [1].
        target: What the moment should be [m^(3 order - 3)], shape [boxes] or [1].
        scale: Deviation that counts as one [m^(3 order - 3)].
        device: Warp device; the current default if None.

    Raises:
        ValueError: The target is not of shape [boxes], is negative or not finite, or the scale is not positive.
    """

    grid: SizeGrid
    order: float
    target: Floats
    scale: float
    device: Any = None
    _weights: WarpArray = field(init=False, repr=False)
    _goal: WarpArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        unit = f"m^{3 * self.order - 3:g}"
        check_positive("scale", self.scale, unit)
        target = np.array(np.atleast_1d(self.target), dtype=np.float64)
        if target.ndim != 1 or not (np.isfinite(target).all() and (target >= 0).all()):
            raise ValueError(f"target [{unit}]: expected shape [boxes], finite and not negative, got {self.target}")
        target.flags.writeable = False
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "_weights", to_device(self.grid.volumes**self.order / self.scale, device=self.device))
        object.__setattr__(self, "_goal", to_device(target / self.scale, device=self.device))

    @classmethod
    def number(cls, grid: SizeGrid, target: Any, scale: float, *, device: Any = None) -> MomentLoss:
        """Loss on the total number; target and scale in [m^-3]."""
        return cls(grid, 0.0, target, scale, device)

    @classmethod
    def volume(cls, grid: SizeGrid, target: Any, scale: float, *, device: Any = None) -> MomentLoss:
        """Loss on the total volume; target and scale in [m^3 m^-3]."""
        return cls(grid, 1.0, target, scale, device)

    def _layout(self) -> tuple[SizeGrid, int]:
        return self.grid, int(self.target.shape[0])

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        return [Operation(moment_loss, shape_of(loss)[0], [number, self._weights, self._goal], [loss])]


@wp.func
def _excess(number: Float64Matrix, weights: Float64Array, goal: Float64Array, box: Int32) -> Float64:
    total = wp.float64(0.0)
    for i in range(number.shape[1]):
        total += number[box, i] * weights[i]
    return total - goal[wp.min(box, goal.shape[0] - 1)]


@wp.func
def squared_excess(number: Float64Matrix, weights: Float64Array, goal: Float64Array, box: Int32) -> Float64:
    """Squared deviation of a weighted sum from its goal."""
    excess = _excess(number, weights, goal, box)
    return excess * excess


@wp.func_grad(squared_excess)
def adjoint_squared_excess(
    number: Float64Matrix, weights: Float64Array, goal: Float64Array, box: Int32, cotangent: Float64
):
    """D / d number[i] = 2 excess weights[i]."""
    excess = _excess(number, weights, goal, box)
    for i in range(number.shape[1]):
        wp.adjoint[number][box, i] += _TWO * excess * weights[i] * cotangent


@wp.kernel
def moment_loss(number: Float64Matrix, weights: Float64Array, goal: Float64Array, loss: Float64Array):
    """Launched over [boxes]."""
    box = wp.tid()
    loss[box] = squared_excess(number, weights, goal, box)
