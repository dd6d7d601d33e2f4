"""The grid of sizes and compositions against single particles, under Brownian coagulation."""

from __future__ import annotations

import numpy as np

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.composition import CompositionGrid, CompositionSimulation, CompositionState, Species
from retrograde.aerosol.particles import ParticleSimulation, ParticleState, Record
from retrograde.aerosol.physics import BrownianKernel
from retrograde.aerosol.processes import CoagulationFixedPivot

N0, V0, RHO = 1e12, 1e-21, 1000.0
AIR = Environment.uniform(1)


def test_mixing_state_and_kappas_are_those_of_particles_in_the_mean() -> None:
    """Equal soot and salt particles, mixed externally; chi, number, and the share that is still pure soot."""
    rate = BrownianKernel(RHO).for_boxes(SizeGrid.from_volumes([V0, 2 * V0]), AIR)[0, 0]
    time, boxes, particles = 2.0 / (rate * N0), 30, 4000
    masses = np.zeros((boxes, particles, 2))
    masses[:, : particles // 4, 0] = masses[:, particles // 4 :, 1] = V0 * RHO
    simulation = ParticleSimulation([0.0, time], kernel=BrownianKernel(RHO), environment=AIR)
    final = simulation.run(ParticleState.from_numpy(masses, particles / N0), seed=5, record=Record.NOTHING).final
    grid = CompositionGrid(SizeGrid.from_ratio(V0, 2.0**0.5, 16), (Species("soot"), Species("salt", RHO, 1.2)), 12)
    one = N0 * np.eye(16)[0]
    start = CompositionState.from_populations([(0.25 * one, [1, 0]), (0.75 * one, [0, 1])], grid)
    end = CompositionSimulation(grid, (CoagulationFixedPivot(BrownianKernel(RHO), AIR),), [0.0, time], substeps=60).run(
        start
    )
    chi = final.mixing_state_index()
    assert abs(end.final.mixing_state_index()[0] - chi.mean()) < 1e-2 + 3 * chi.std() / np.sqrt(boxes)
    assert abs(end.final.total_number()[0] / final.total_number().mean() - 1.0) < 1e-2
    held = final.numpy()
    pure = ((held[:, :, 0] > 0) & (held[:, :, 1] == 0)).sum(axis=1) / final.counts()
    shares = end.final.kappa_distribution()[1][0] / end.final.total_number()[0]
    assert abs(shares[0] - pure.mean()) < 1e-2
