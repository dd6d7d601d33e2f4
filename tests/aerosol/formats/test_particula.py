"""Containers of particula's form: taken in, given back, and the real ones where they are installed."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from retrograde.aerosol import Environment, SectionalState, SizeGrid
from retrograde.aerosol.formats import (
    environment_from_particula,
    environment_to_particula,
    sectional_from_particula,
    sectional_to_particula,
)


@dataclass
class ParticleLike:
    masses: np.ndarray
    concentration: np.ndarray
    charge: np.ndarray
    density: np.ndarray
    volume: np.ndarray


GRID = SizeGrid.from_ratio(1e-24, 2.0, 20)
RNG = np.random.default_rng(6)
STATE = SectionalState.from_numpy(RNG.lognormal(20.0, 1.0, size=(2, 20)), GRID)


def particles() -> ParticleLike:
    """Two boxes of particles of two species, some slots empty."""
    masses = RNG.lognormal(np.log(1e-19), 1.0, size=(2, 500, 2))
    concentration = np.ones((2, 500))
    masses[1, 400:] = 0.0
    concentration[1, 400:] = 0.0
    volume = np.array([1e-6, 2e-6])
    return ParticleLike(masses, concentration, np.zeros((2, 500)), np.array([1000.0, 1800.0]), volume)


def test_binned_data_comes_back_exactly():
    back = sectional_from_particula(sectional_to_particula(STATE, 1250.0, ParticleLike))
    assert np.array_equal(back.numpy(), STATE.numpy())
    np.testing.assert_allclose(back.grid.volumes, GRID.volumes, rtol=1e-15)


def test_particles_keep_number_and_volume_on_the_pivots():
    data = particles()
    state = sectional_from_particula(data, GRID)
    concentration = data.concentration / data.volume[:, None]
    np.testing.assert_allclose(state.total_number(), concentration.sum(axis=1), rtol=1e-13)
    volumes = (data.masses / data.density).sum(axis=2)
    np.testing.assert_allclose(state.total_volume(), (concentration * volumes).sum(axis=1), rtol=1e-13)


def test_a_particle_on_a_pivot_goes_there_whole():
    masses = np.array([[[GRID.volumes[7] * 1000.0]]])
    data = ParticleLike(masses, np.ones((1, 1)), np.zeros((1, 1)), np.array([1000.0]), np.array([1e-6]))
    number = sectional_from_particula(data, GRID).numpy()[0]
    np.testing.assert_allclose(number, 1e6 * np.eye(20)[7], atol=1e-6)


def test_environment_comes_back_exactly():
    air = Environment(np.array([298.0, 280.0]), np.array([1e5, 8e4]))

    @dataclass
    class EnvironmentLike:
        temperature: np.ndarray
        pressure: np.ndarray
        saturation_ratio: np.ndarray

    back = environment_from_particula(environment_to_particula(air, np.ones((2, 3)), EnvironmentLike))
    assert np.array_equal(back.temperature, air.temperature)
    assert np.array_equal(back.pressure, air.pressure)
    with pytest.raises(ValueError, match=r"saturation_ratio \[1\].*2 boxes"):
        environment_to_particula(air, np.ones(3), dict)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"masses": np.ones((2, 500))}, r"masses \[kg\]: expected shape \[boxes, particles, species\]"),
        ({"concentration": np.ones((2, 4))}, r"concentration \[1\]: expected shape \[2, 500\]"),
        ({"density": np.ones(3)}, r"density \[kg m\^-3\]: expected shape \[2\]"),
        ({"volume": np.zeros(2)}, r"volume \[m\^3\]: expected finite positive"),
        ({"masses": -np.ones((2, 500, 2))}, r"masses \[kg\].*negative"),
        ({"masses": np.full((2, 500, 2), 1e-3)}, "lie outside the pivots"),
    ],
)
def test_bad_data_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        sectional_from_particula(replace(particles(), **change), GRID)


def test_particles_without_a_grid_are_refused():
    with pytest.raises(ValueError, match="give a grid"):
        sectional_from_particula(particles())


def test_real_containers_take_part():
    particle_data = pytest.importorskip("particula.particles.particle_data", reason="particula is not installed")
    environment_data = pytest.importorskip("particula.gas.environment_data")
    data = sectional_to_particula(STATE, 1250.0, particle_data.ParticleData)
    np.testing.assert_allclose(2 * data.radii, np.tile(GRID.diameters, (2, 1)), rtol=1e-13)
    assert np.array_equal(sectional_from_particula(data.copy()).numpy(), STATE.numpy())
    air = Environment.uniform(2)
    real = environment_to_particula(air, np.ones((2, 1)), environment_data.EnvironmentData)
    assert np.array_equal(environment_from_particula(real).temperature, air.temperature)
