"""Forward runs of a size distribution by particles, held against the sectional model and themselves."""

from __future__ import annotations

import numpy as np
import pytest

from retrograde.aerosol import Environment, SectionalState, SizeGrid
from retrograde.aerosol.particles import ParticleSimulation, forecast_by_particles
from retrograde.aerosol.physics import BrownianKernel, ConstantLoss, PowerLawLoss
from retrograde.aerosol.processes import CoagulationFixedPivot, FirstOrderLoss
from retrograde.aerosol.simulation import Simulation

AIR = Environment.uniform(1)
GRID = SizeGrid.geometric(20e-9, 800e-9, bins_per_decade=32)
NUMBER = np.exp(-0.5 * (np.log(GRID.diameters / 80e-9) / 0.45) ** 2) * (GRID.diameters < 300e-9) * 3e10
TIMES = np.array([0.0, 300.0, 600.0])
LOSS = PowerLawLoss(1e-4, 2e-4, -1.0)


def test_forecast_agrees_with_the_sectional_model():
    """Number, mean diameter and shape of an afternoon's aerosol, by 1,000 boxes of 300 particles."""
    simulation = ParticleSimulation(TIMES, kernel=BrownianKernel(), loss=LOSS, environment=AIR)
    forecast = forecast_by_particles(NUMBER, GRID, simulation, seed=2, boxes=1000, particles=300)
    processes = (CoagulationFixedPivot(BrownianKernel(), AIR), FirstOrderLoss(LOSS))
    sectional = Simulation(GRID, processes, TIMES, substeps=100).run(SectionalState.from_numpy(NUMBER, GRID)).numpy()
    compared = forecast.compare(sectional[:, 0])
    assert sectional[-1].sum() < 0.8 * NUMBER.sum()
    assert np.abs(compared.number_score).max() < 3.5
    assert np.abs(compared.number_ratio - 1.0).max() < 6e-3
    assert np.abs(compared.mean_diameter_ratio - 1.0).max() < 3e-3
    assert compared.shape_l1.max() < 0.02
    np.testing.assert_allclose(forecast.total[0], NUMBER.sum(), rtol=6e-3)
    assert (forecast.standard_error[0][NUMBER > 0] > 0).all()


def test_a_forecast_with_another_law_is_told_apart():
    """What was seen lost a fifth of its number that the forecast does not lose."""
    simulation = ParticleSimulation(TIMES, loss=ConstantLoss(1e-9), environment=AIR)
    forecast = forecast_by_particles(NUMBER, GRID, simulation, seed=2, boxes=200, particles=300)
    compared = forecast.compare(np.outer([1.0, 0.9, 0.8], NUMBER))
    np.testing.assert_allclose(compared.number_ratio, [1.0, 1 / 0.9, 1 / 0.8], rtol=0.02)
    assert compared.number_score[-1] > 10.0
    assert np.abs(compared.number_score[0]) < 4.0


def test_what_does_not_fit_is_refused():
    simulation = ParticleSimulation(TIMES, loss=LOSS)
    with pytest.raises(ValueError, match="some positive"):
        forecast_by_particles(np.zeros(GRID.bins), GRID, simulation, seed=0)
    with pytest.raises(ValueError, match=r"number \[m\^-3\]: expected shape"):
        forecast_by_particles([1.0], GRID, simulation, seed=0)
    with pytest.raises(ValueError, match="boxes: expected at least 2"):
        forecast_by_particles(NUMBER, GRID, simulation, seed=0, boxes=1)
    forecast = forecast_by_particles(NUMBER, GRID, simulation, seed=0, boxes=2, particles=5)
    with pytest.raises(ValueError, match=r"observed \[m\^-3\]: expected shape"):
        forecast.compare(NUMBER)
