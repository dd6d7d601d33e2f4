"""A recovered aerosol run forward by single particles, and held against the scans that it was recovered from.

The inversion's own model is sectional. Particles that merge one by one are another model of the same processes, and
exact in law: where the two agree, the bins have not decided the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.recovering import Recovery
from retrograde.aerosol.particles import ParticleSimulation, forecast_by_particles
from retrograde.aerosol.physics import BrownianKernel, LossLaw, TableKernel
from retrograde.aerosol.processes.removal import Dilution, FirstOrderLoss
from retrograde.aerosol.states import SectionalState

Floats = NDArray[np.float64]

_NODES = 24


@dataclass(frozen=True, eq=False)
class Verification:
    """Numbers of every scan that was used: measured, by the sectional model, and by particles.

    Attributes:
        start: Start of each scan, shape [scans].
        measured: Measured number [m^-3], shape [scans].
        sectional: Number by the inversion's own model from the recovered state [m^-3], shape [scans].
        particles: Mean number by particles from the same state [m^-3], shape [scans].
        standard_error: Standard error of that mean over the boxes [m^-3], shape [scans].
        shape_l1: Half the sum over the channels of the absolute difference of the shapes by particles and by the
            sectional model [1], shape [scans].
        boxes: Number of boxes.
    """

    start: NDArray[np.datetime64]
    measured: Floats
    sectional: Floats
    particles: Floats
    standard_error: Floats
    shape_l1: Floats
    boxes: int

    @property
    def difference(self) -> float:
        """Largest relative difference of the number by particles from that by the sectional model [1]."""
        return float(np.abs(self.particles / self.sectional - 1.0).max())


def verify_by_particles(
    recovery: Recovery, *, seed: int = 0, boxes: int = 1000, particles: float = 1000.0
) -> Verification:
    """Run the recovered state forward by boxes of particles.

    Args:
        recovery: The answer to an inverse problem.
        seed: Seed of the random numbers.
        boxes: Number of boxes.
        particles: Expected number of particles of a box at the start [1].
    """
    case, state = recovery.case, recovery.state
    channels = case.channels(case.seen)
    nodes = np.linspace(0.0, float(channels.times.max()), _NODES + 1)
    sectional = case.prescribed.simulation(case.grid, nodes, None)
    by_bins = sectional.run(SectionalState.from_numpy(state.number, case.grid)).numpy()[:, 0]
    simulation = particle_simulation(case.prescribed, recovery, nodes)
    forecast = forecast_by_particles(
        state.number, case.grid, simulation, seed=seed, boxes=boxes, particles=particles,
        density=case.prescribed.density,
    )  # fmt: skip
    operator = case.operator(sectional, channels)
    seen = [operator.apply(number[:, np.newaxis])[0] for number in (by_bins, forecast.number)]
    relative = np.interp(channels.times, nodes, forecast.total_standard_error / forecast.total)
    rows = [channels.scans == scan for scan in case.seen]
    totals = [np.array([values[row].sum() for row in rows]) for values in (channels.number, *seen)]
    shapes = [
        np.array([0.5 * np.abs(seen[0][r] / seen[0][r].sum() - seen[1][r] / seen[1][r].sum()).sum() for r in rows])
    ]
    return Verification(
        start=case.observations.start[case.seen],
        measured=totals[0],
        sectional=totals[1],
        particles=totals[2],
        standard_error=totals[2] * np.array([relative[row].mean() for row in rows]),
        shape_l1=shapes[0],
        boxes=boxes,
    )


def particle_simulation(prescribed: Prescribed, recovery: Recovery, times: Floats) -> ParticleSimulation:
    """What is prescribed, for particles.

    Args:
        prescribed: Air, particles and processes.
        recovery: The answer, for its size bins.
        times: When states are kept [s].
    """
    grid, kernel, loss, dilution = recovery.case.grid, None, None, 0.0
    if prescribed.coagulates:
        kernel = BrownianKernel(density=prescribed.density)
        if prescribed.factor != 1.0:
            kernel = TableKernel(prescribed.factor * np.asarray(kernel.for_boxes(grid, prescribed.air))[0])
    for process in prescribed.processes(grid):
        if isinstance(process, FirstOrderLoss) and isinstance(process.rate, LossLaw):
            loss = process.rate
        elif isinstance(process, Dilution):
            dilution = process.rate
    return ParticleSimulation(times, kernel=kernel, loss=loss, dilution=dilution, environment=prescribed.air, grid=grid)
