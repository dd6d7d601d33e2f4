"""Distance of mixing states, by the index chi of Riemer and West (2013)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Float64Tensor,
    Int32,
    WarpArray,
    new_zeros,
    shape_of,
    to_device,
    wp,
)
from retrograde.aerosol._elementary import expm1_wp
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.measures import SMALLEST_DIVERSITY, mass_entropies
from retrograde.aerosol.losses.base import Operation
from retrograde.aerosol.losses.composition import CompositionLoss

Floats = NDArray[np.float64]

_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))
_TWO = wp.constant(wp.float64(2.0))
_SMALLEST_SHARE = wp.constant(wp.float64(1e-12))
_SMALLEST_DIVERSITY = wp.constant(wp.float64(SMALLEST_DIVERSITY))


@dataclass(frozen=True, eq=False)
class MixingStateLoss(CompositionLoss):
    """Squared deviation of the mixing-state index chi from what it should be, over scale^2 [1].

    Finite everywhere. Particles of one species add nothing to chi's entropy, by 0 ln 0 = 0. A box with no particles, or
    with one species alone, has no chi: its loss and its gradient are zero. Where a species is absent, the derivative
    to the first of it is infinite; below a share of 1e-12 of the mass, its logarithm is held.

    Attributes:
        grid: Sizes and compositions of the states.
        target: What chi should be [1], a number or shape [boxes].
        scale: Deviation that counts as one [1].

    Raises:
        ValueError: The target does not lie from 0 to 1, or has another shape, or the scale is not positive.

    Source: Riemer and West (2013), doi:10.5194/acp-13-11423-2013.
    """

    grid: CompositionGrid
    target: ArrayLike
    scale: float = 1.0
    _goal: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_positive("scale", self.scale, "1")
        goal = np.atleast_1d(np.asarray(self.target, dtype=np.float64))
        if goal.ndim != 1 or not ((goal >= 0.0) & (goal <= 1.0)).all():
            raise ValueError(f"target [1]: expected a number or shape [boxes], from 0 to 1, got {self.target}")
        object.__setattr__(self, "_goal", goal)

    def _boxes(self) -> int:
        return len(self._goal)

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        boxes, species = shape_of(loss)[0], len(self.grid.species)
        device = options["device"]
        masses = self.grid.particle_masses[:-1]
        entropies = masses.sum(axis=2) * mass_entropies(self.grid)
        weights = to_device(np.concatenate([entropies[..., None], masses], axis=2), device=device)
        goal = to_device(self._goal, device=device)
        sums = new_zeros((boxes, species + 1), **options)
        return [
            Operation(weigh, [boxes, species + 1], [number, weights], [sums]),
            Operation(mixing_state_loss, boxes, [sums, goal, wp.float64(1.0 / self.scale**2)], [loss]),
        ]


@wp.func
def weighted_sum(number: Float64Tensor, weights: Float64Tensor, box: Int32, s: Int32) -> Float64:
    """Sum of number times weight over all cells on the grid."""
    total = wp.float64(0.0)
    for i in range(weights.shape[0]):
        for c in range(weights.shape[1]):
            total += number[box, i, c] * weights[i, c, s]
    return total


@wp.kernel
def weigh(number: Float64Tensor, weights: Float64Tensor, sums: Float64Matrix):
    """Mass times entropy of the particles, and mass of every species [kg m^-3]; launched over [boxes, species + 1]."""
    box, s = wp.tid()
    sums[box, s] = weighted_sum(number, weights, box, s)


@wp.func
def _total_mass(sums: Float64Matrix, box: Int32) -> Float64:
    total = wp.float64(0.0)
    for s in range(1, sums.shape[1]):
        total += sums[box, s]
    return total


@wp.func
def _bulk_entropy(sums: Float64Matrix, total: Float64, box: Int32) -> Float64:
    entropy = wp.float64(0.0)
    for s in range(1, sums.shape[1]):
        share = sums[box, s] / total
        entropy -= share * wp.log(wp.max(share, _SMALLEST_SHARE))
    return entropy


@wp.func
def squared_deviation(sums: Float64Matrix, goal: Float64Array, weight: Float64, box: Int32) -> Float64:
    """Weighted square of chi less its goal; 0 where there is no chi."""
    total = _total_mass(sums, box)
    if total <= _ZERO:
        return _ZERO
    bulk = _bulk_entropy(sums, total, box)
    if bulk <= _SMALLEST_DIVERSITY:
        return _ZERO
    deviation = expm1_wp(sums[box, 0] / total) / expm1_wp(bulk) - goal[wp.min(box, goal.shape[0] - 1)]
    return weight * deviation * deviation


@wp.func_grad(squared_deviation)
def adjoint_squared_deviation(sums: Float64Matrix, goal: Float64Array, weight: Float64, box: Int32, cotangent: Float64):
    """By the quotient rule in D_alpha - 1 and D_gamma - 1."""
    total = _total_mass(sums, box)
    if total > _ZERO:
        bulk = _bulk_entropy(sums, total, box)
        if bulk > _SMALLEST_DIVERSITY:
            mean = sums[box, 0] / total
            below = expm1_wp(bulk)
            chi = expm1_wp(mean) / below
            outer = _TWO * weight * (chi - goal[wp.min(box, goal.shape[0] - 1)]) * cotangent / total / below
            by_mean = wp.exp(mean) * outer
            by_bulk = chi * wp.exp(bulk) * outer
            wp.adjoint[sums][box, 0] += by_mean
            for s in range(1, sums.shape[1]):
                share = sums[box, s] / total
                by_entropy = wp.log(wp.max(share, _SMALLEST_SHARE)) + bulk
                if share <= _SMALLEST_SHARE:
                    by_entropy -= _ONE
                wp.adjoint[sums][box, s] += by_bulk * by_entropy - by_mean * mean


@wp.kernel
def mixing_state_loss(sums: Float64Matrix, goal: Float64Array, weight: Float64, loss: Float64Array):
    """Launched over [boxes]."""
    box = wp.tid()
    loss[box] = squared_deviation(sums, goal, weight, box)
