"""Random initial states: Poisson numbers of particles in bins, with sizes spread about each bin's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._checks import check_not_negative
from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Float64Tensor,
    Int32Matrix,
    UInt32Array,
    UInt64,
    new_zeros,
    to_device,
    wp,
)
from retrograde.aerosol.constants import DEFAULT_DENSITY
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.particles._philox import NOISE, START, box_numbers, check_seed, normals_wp, uniforms_wp
from retrograde.aerosol.particles.state import ParticleState

Floats = NDArray[np.float64]

_PURPOSE = wp.constant(START)
_NOISE = wp.constant(NOISE)
_ZERO = wp.constant(wp.float64(0.0))
_ONE_DRAW = wp.constant(wp.int64(1))
_BIN_SHIFT = wp.constant(wp.int64(40))


@dataclass(frozen=True, eq=False)
class PoissonSample:
    """Initial states that were drawn.

    Attributes:
        state: Particles, bin by bin from the first slot on.
        bins: Bin of the particle in every slot, -1 in empty ones, shape [boxes, slots].
        noise: Standard normal number that every particle's size was drawn with [1], shape [boxes, slots].
        counts: Particles of every bin, shape [boxes, bins].
    """

    state: ParticleState
    bins: NDArray[np.int32]
    noise: Floats
    counts: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PoissonStart:
    """Boxes whose bins hold independent Poisson numbers of particles.

    A particle of bin b has the masses of the bin times exp(spread * e), with e standard normal: sizes are
    reparameterised, so that they have derivatives to the bin's masses and to the spread.

    Attributes:
        intensity: Expected number of particles of every bin in a box [1], shape [bins].
        masses: Masses of a particle of every bin [kg], shape [bins, species], or [bins] for one species.
        volume: Volume of air of a box [m^3].
        density: Density of the species [kg m^-3], a number or shape [species].
        spread: Standard deviation of the logarithm of a particle's mass about its bin's [1].

    Raises:
        ValueError: A shape is not as described, or a value is negative or not finite.
    """

    intensity: ArrayLike
    masses: ArrayLike
    volume: float
    density: ArrayLike = DEFAULT_DENSITY
    spread: float = 0.0

    def __post_init__(self) -> None:
        intensity = np.array(self.intensity, dtype=np.float64)
        masses = np.array(self.masses, dtype=np.float64)
        masses = masses[:, np.newaxis] if masses.ndim == 1 else masses
        if intensity.ndim != 1 or masses.ndim != 2 or len(masses) != len(intensity) or 0 in masses.shape:
            raise ValueError(
                "intensity [1], masses [kg]: expected shapes [bins] and [bins, species], "
                f"got {list(intensity.shape)} and {list(np.shape(self.masses))}"
            )
        if not (np.isfinite(intensity).all() and (intensity > 0).all()):
            raise ValueError("intensity [1]: expected finite positive values; leave empty bins out")
        if not (np.isfinite(masses).all() and (masses >= 0).all() and (masses.sum(axis=1) > 0).all()):
            raise ValueError("masses [kg]: expected finite values, none negative, and no bin without mass")
        check_not_negative("spread", self.spread, "1")
        density = np.broadcast_to(np.asarray(self.density, dtype=np.float64), masses.shape[1:])
        for name, array in (("intensity", intensity), ("masses", masses), ("density", density.copy())):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def on_grid(
        cls, number: ArrayLike, grid: SizeGrid, volume: float, *, density: float = DEFAULT_DENSITY, spread: float = 0.0
    ) -> PoissonStart:
        """Particles at the pivots of a grid's bins that hold any.

        Args:
            number: Number concentration of each bin [m^-3], shape [bins].
            grid: Size bins.
            volume: Volume of air of a box [m^3].
            density: Density [kg m^-3].
            spread: Standard deviation of the logarithm of a particle's mass about its bin's [1].
        """
        values = np.asarray(number, dtype=np.float64)
        if values.shape != (grid.bins,):
            raise ValueError(f"number [m^-3]: expected shape [{grid.bins}], got {list(values.shape)}")
        held = values > 0.0
        return cls(values[held] * volume, grid.masses(density)[held], volume, density, spread)

    @property
    def bins(self) -> int:
        """Number of bins."""
        return np.asarray(self.intensity).shape[0]

    def sample(self, boxes: int, *, seed: int, first_box: int = 0, device: Any = None) -> PoissonSample:
        """Draw the particles of so many boxes; what a box gets depends on the seed and its number alone.

        Args:
            boxes: Number of boxes.
            seed: Seed, from 0 to 2^64 - 1.
            first_box: Number of the first box.
            device: Warp device; the current default if None.

        Raises:
            ValueError: There are no boxes, or their numbers or the seed are out of range.
        """
        masses: Floats = np.asarray(self.masses)
        if boxes < 1:
            raise ValueError(f"boxes: expected at least 1, got {boxes}")
        check_seed(seed)
        boxes_on_device = box_numbers(first_box, boxes, device)
        counts: Any = wp.zeros((boxes, self.bins), dtype=wp.int32, device=device)
        inputs = [wp.uint64(seed), boxes_on_device, to_device(np.asarray(self.intensity), device=device)]
        wp.launch(draw_counts, counts.shape, inputs, [counts], device=device, record_tape=False)
        held = np.array(counts.numpy())
        slots = max(1, int(held.sum(axis=1).max()))
        out: Any = new_zeros((boxes, slots, masses.shape[1]), device=device)
        bins: Any = wp.full((boxes, slots), -1, dtype=wp.int32, device=device)
        noise: Any = new_zeros((boxes, slots), device=device)
        inputs = [wp.uint64(seed), boxes_on_device, counts, to_device(masses, device=device), wp.float64(self.spread)]
        wp.launch(draw_particles, boxes, inputs, [out, bins, noise], device=device, record_tape=False)
        state = ParticleState(out, np.asarray(self.density), np.full(boxes, self.volume))
        return PoissonSample(state, np.array(bins.numpy()), np.array(noise.numpy()), held)


@wp.kernel(enable_backward=False)
def draw_counts(seed: UInt64, numbers: UInt32Array, intensity: Float64Array, counts: Int32Matrix):
    """Poisson numbers, as the arrivals of a process of rate one before the intensity; over [boxes, bins]."""
    box, i = wp.tid()
    draw = wp.int64(i) << _BIN_SHIFT
    count = wp.int32(0)
    arrived = wp.float64(0.0)
    while arrived < intensity[i]:
        u = uniforms_wp(seed, numbers[box], _PURPOSE, draw)
        draw += _ONE_DRAW
        arrived -= wp.log(u[0])
        if arrived < intensity[i]:
            count += 1
            arrived -= wp.log(u[1])
            if arrived < intensity[i]:
                count += 1
    counts[box, i] = count


@wp.kernel(enable_backward=False)
def draw_particles(
    seed: UInt64,
    numbers: UInt32Array,
    counts: Int32Matrix,
    masses: Float64Matrix,
    spread: Float64,
    out: Float64Tensor,
    bins: Int32Matrix,
    noise: Float64Matrix,
):
    """Fill the slots, bin by bin; over [boxes]."""
    box = wp.tid()
    slot = wp.int32(0)
    for i in range(counts.shape[1]):
        for _ in range(counts[box, i]):
            factor = wp.float64(1.0)
            if spread > _ZERO:
                e = normals_wp(seed, numbers[box], _NOISE, wp.int64(slot))[0]
                noise[box, slot] = e
                factor = wp.exp(spread * e)
            for s in range(masses.shape[1]):
                out[box, slot, s] = masses[i, s] * factor
            bins[box, slot] = i
            slot += 1
