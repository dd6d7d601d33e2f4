"""A size distribution run forward by particles, and compared with what was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol.constants import DEFAULT_DENSITY
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.particles.events import Record
from retrograde.aerosol.particles.simulation import ParticleSimulation
from retrograde.aerosol.particles.start import PoissonStart

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A forecast beside observations at the same times.

    Attributes:
        number_ratio: Number of the forecast over that observed [1], shape [times].
        number_score: Deviation of the number in the forecast's own standard errors [1], shape [times].
        mean_diameter_ratio: Number-mean diameter of the forecast over that observed [1], shape [times].
        shape_l1: Half the sum over bins of the absolute difference of both shapes, each of sum one [1],
            shape [times].
    """

    number_ratio: Floats
    number_score: Floats
    mean_diameter_ratio: Floats
    shape_l1: Floats


@dataclass(frozen=True, eq=False)
class ParticleForecast:
    """Mean size distributions of many boxes of particles.

    Attributes:
        grid: Size bins.
        times: Times [s], shape [times].
        number: Mean number concentration of each bin [m^-3], shape [times, bins].
        standard_error: Its standard error over the boxes [m^-3], shape [times, bins].
        total: Mean number concentration of all particles, those outside the grid too [m^-3], shape [times].
        total_standard_error: Its standard error [m^-3], shape [times].
        boxes: Number of boxes.
    """

    grid: SizeGrid
    times: Floats
    number: Floats
    standard_error: Floats
    total: Floats
    total_standard_error: Floats
    boxes: int

    def compare(self, observed: ArrayLike) -> Comparison:
        """Hold the forecast against observations.

        Args:
            observed: Number concentration of each bin [m^-3], shape [times, bins]; NaN at times without any.

        Raises:
            ValueError: Another shape.
        """
        seen = np.asarray(observed, dtype=np.float64)
        if seen.shape != self.number.shape:
            raise ValueError(f"observed [m^-3]: expected shape {list(self.number.shape)}, got {list(seen.shape)}")
        ours, theirs = self.number.sum(axis=1), seen.sum(axis=1)
        error = np.where(self.total_standard_error > 0.0, self.total_standard_error, np.nan)
        diameters = self.grid.diameters
        shapes = self.number / ours[:, np.newaxis] - seen / theirs[:, np.newaxis]
        return Comparison(
            number_ratio=ours / theirs,
            number_score=(ours - theirs) / error,
            mean_diameter_ratio=(self.number @ diameters / ours) / (seen @ diameters / theirs),
            shape_l1=0.5 * np.abs(shapes).sum(axis=1),
        )


def forecast_by_particles(
    number: ArrayLike,
    grid: SizeGrid,
    simulation: ParticleSimulation,
    *,
    seed: int,
    boxes: int = 1000,
    particles: float = 1000.0,
    density: float = DEFAULT_DENSITY,
) -> ParticleForecast:
    """Run a size distribution forward by particles, with Poisson numbers at the grid's pivots.

    Args:
        number: Number concentration of each bin at the first time [m^-3], shape [bins].
        grid: Size bins; particles that outgrow them are counted in the total alone.
        simulation: What happens, and when states are kept.
        seed: Seed.
        boxes: Number of boxes.
        particles: Expected number of particles of a box at the start [1]. The mean of the finite process differs
            from the sectional model's equation by some 0.1 % of the number at 100 particles, and as one over it.
        density: Density of the particles [kg m^-3].

    Raises:
        ValueError: There are no particles, or fewer than two boxes.
    """
    values = np.asarray(number, dtype=np.float64)
    if boxes < 2:
        raise ValueError(f"boxes: expected at least 2, for a standard error, got {boxes}")
    if not (values.shape == (grid.bins,) and np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise ValueError(f"number [m^-3]: expected shape [{grid.bins}], finite, none negative, some positive")
    start = PoissonStart.on_grid(values, grid, particles / float(values.sum()), density=density)
    sample = start.sample(boxes, seed=seed)
    run = simulation.run(sample.state, seed=seed, record=Record.NOTHING)
    spectra = np.array([state.bin_numbers(grid) for state in run.states])
    totals = np.array([state.total_number() for state in run.states])
    return ParticleForecast(
        grid=grid,
        times=run.times,
        number=spectra.mean(axis=1),
        standard_error=spectra.std(axis=1, ddof=1) / np.sqrt(boxes),
        total=totals.mean(axis=1),
        total_standard_error=totals.std(axis=1, ddof=1) / np.sqrt(boxes),
        boxes=boxes,
    )
