"""Deviance of counted particles from the counts that a state leads one to expect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Int32,
    WarpArray,
    new_zeros,
    shape_of,
    to_device,
    wp,
)
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.losses.base import Operation, SizeDistributionLoss
from retrograde.aerosol.states import check_concentrations

Floats = NDArray[np.float64]

_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))
_TWO = wp.constant(wp.float64(2.0))


@dataclass(frozen=True, eq=False)
class PoissonLoss(SizeDistributionLoss):
    """Poisson deviance of counts: twice the log-likelihood ratio against a perfect fit [1].

    The expected count of a channel is lambda = background + sum over bins of response times number;
    the loss is the sum over channels of 2 (lambda - c + c ln(c / lambda)), c being the count. Near the
    truth it is about one a channel. Below `floor` the term goes on as its tangent, so that loss and
    gradient stay finite where nothing is expected but something was counted.

    Attributes:
        grid: Size bins of the states.
        counts: Counted particles [1], shape [boxes, channels] or [channels]; fractions are allowed,
            as where counts were corrected.
        response: Expected count of each channel per number concentration of each bin: sampled air
            volume times efficiency times transfer [m^3], shape [channels, bins].
        background: Expected count without particles [1], shape [channels]; zero by default.
        floor: Expected count below which the deviance is continued by its tangent [1].
        device: Warp device; the current default if None.

    Raises:
        ValueError: A shape does not fit, or a value is negative or not finite.

    Source: Baker and Cousins (1984), Nuclear Instruments and Methods 221, 437,
    doi:10.1016/0167-5087(84)90016-4.
    """

    grid: SizeGrid
    counts: Floats
    response: Floats
    background: Floats | None = None
    floor: float = 1e-3
    device: Any = None
    _on_device: tuple[WarpArray, WarpArray, WarpArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_positive("floor", self.floor, "1")
        response = np.array(self.response, dtype=np.float64)
        if response.ndim != 2 or response.shape[1] != self.grid.bins:
            raise ValueError(
                f"response [m^3]: expected shape [channels, bins] with {self.grid.bins} bins, "
                f"got {list(response.shape)}"
            )
        channels = response.shape[0]
        counts = np.atleast_2d(np.array(self.counts, dtype=np.float64))
        if counts.ndim != 2 or counts.shape[1] != channels:
            raise ValueError(
                f"counts [1]: expected shape [boxes, channels] with {channels} channels, got {list(counts.shape)}"
            )
        background = np.zeros(channels) if self.background is None else np.array(self.background, dtype=np.float64)
        if background.shape != (channels,):
            raise ValueError(f"background [1]: expected shape [channels] = [{channels}], got {list(background.shape)}")
        for name, unit, values in (
            ("response", "[m^3]", response),
            ("counts", "[1]", counts),
            ("background", "[1]", background),
        ):
            check_concentrations(name, values, unit)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        on_device = tuple(to_device(a, device=self.device) for a in (counts, response, background))
        object.__setattr__(self, "_on_device", on_device)

    def _layout(self) -> tuple[SizeGrid, int]:
        return self.grid, int(self.counts.shape[0])

    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        counts, response, background = self._on_device
        boxes, channels = shape_of(loss)[0], self.response.shape[0]
        expected = new_zeros((boxes, channels), **options)
        return [
            Operation(expect, [boxes, channels], [number, response, background], [expected]),
            Operation(deviance_loss, boxes, [expected, counts, wp.float64(self.floor)], [loss]),
        ]


@wp.kernel
def expect(number: Float64Matrix, response: Float64Matrix, background: Float64Array, expected: Float64Matrix):
    """Expected counts; launched over [boxes, channels]."""
    box, channel = wp.tid()
    total = background[channel]
    for i in range(number.shape[1]):
        total += response[channel, i] * number[box, i]
    expected[box, channel] = total


@wp.func
def deviance(expected: Float64Matrix, counts: Float64Matrix, floor: Float64, box: Int32) -> Float64:
    """Sum of the deviances of a box's channels."""
    row = wp.min(box, counts.shape[0] - 1)
    total = wp.float64(0.0)
    for c in range(counts.shape[1]):
        count = counts[row, c]
        mean = expected[box, c]
        safe = wp.max(mean, floor)
        total += _TWO * (mean - count)
        if count > _ZERO:
            total += _TWO * count * (wp.log(count / safe) - (mean - safe) / safe)
    return total


@wp.func_grad(deviance)
def adjoint_deviance(expected: Float64Matrix, counts: Float64Matrix, floor: Float64, box: Int32, cotangent: Float64):
    """D / d expected = 2 (1 - count / expected), held constant below the floor."""
    row = wp.min(box, counts.shape[0] - 1)
    for c in range(counts.shape[1]):
        safe = wp.max(expected[box, c], floor)
        wp.adjoint[expected][box, c] += _TWO * (_ONE - counts[row, c] / safe) * cotangent


@wp.kernel
def deviance_loss(expected: Float64Matrix, counts: Float64Matrix, floor: Float64, loss: Float64Array):
    """Launched over [boxes]."""
    box = wp.tid()
    loss[box] = deviance(expected, counts, floor, box)
