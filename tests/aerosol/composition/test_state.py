"""Composition-resolved states: what they hold, measure and refuse."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from retrograde.aerosol import SizeGrid
from retrograde.aerosol.composition import (
    CompositionGrid,
    CompositionState,
    Species,
    mixing_state_index_by_size,
)
from retrograde.aerosol.particles.state import ParticleState

SIZES = SizeGrid.from_ratio(1e-22, 2.0, 5)
SOOT, SALT, ORGANIC = Species("soot", 1800.0), Species("salt", 2165.0, 1.2), Species("organic", 1400.0, 0.1)
GRID = CompositionGrid(SIZES, (SOOT, SALT, ORGANIC), 4)
NUMBER = np.random.default_rng(1).lognormal(20.0, 1.0, (2, 5, GRID.fractions))


def test_values_come_back_and_add_up() -> None:
    state = CompositionState.from_numpy(NUMBER, GRID)
    assert np.array_equal(state.numpy(), NUMBER)
    assert_allclose(state.total_number(), NUMBER.sum(axis=(1, 2)), rtol=1e-14)
    assert_allclose(state.sectional().numpy(), NUMBER.sum(axis=2), rtol=1e-14)
    assert_allclose((state.species_mass() / GRID.densities).sum(axis=1), state.sectional().total_volume(), rtol=1e-13)
    assert not state.outside_mass().any()


def test_populations_keep_number_and_species() -> None:
    number, composition = NUMBER[:, :, 0], np.array([0.31, 0.28, 0.41])
    state = CompositionState.from_populations([(number, composition)], GRID)
    volume = number @ SIZES.volumes
    assert_allclose(state.total_number(), number.sum(axis=1), rtol=1e-14)
    assert_allclose(state.species_mass(), volume[:, None] * composition * GRID.densities, rtol=1e-14)


def test_chi_is_that_of_single_particles() -> None:
    """The same aerosol as particles, by the particle model's own formula."""
    counts = np.random.default_rng(2).integers(0, 4, (1, 5, GRID.fractions))
    state = CompositionState.from_numpy(counts.astype(float), GRID)
    masses = np.repeat(GRID.particle_masses[:-1].reshape(-1, 3), counts.reshape(-1), axis=0)[None]
    particles = ParticleState.from_numpy(masses, 1.0, density=GRID.densities)
    assert_allclose(state.mixing_state_index(), particles.mixing_state_index(), rtol=1e-12)


def test_particles_are_put_on_the_grid_with_all_they_hold() -> None:
    """Random particles within, below and above the sizes, empty slots among them; on pivots they stay as they are."""
    rng = np.random.default_rng(4)
    volume = np.exp(rng.uniform(np.log(0.3e-22), np.log(6e-21), (2, 400, 1)))
    volume[:, ::7] = 0.0
    masses = volume * rng.dirichlet(np.ones(3), (2, 400)) * GRID.densities
    particles = ParticleState.from_numpy(masses, [1e-6, 2e-6], density=GRID.densities)
    state = CompositionState.from_particles(particles, GRID)
    assert_allclose(state.species_mass() + state.outside_mass(), particles.species_mass(), rtol=1e-13)
    inside = (volume[..., 0] >= SIZES.volumes[0]) & (volume[..., 0] <= GRID.row_volumes[-1])
    within = ParticleState.from_numpy(masses * inside[..., None], [1e-6, 2e-6], density=GRID.densities)
    number = CompositionState.from_particles(within, GRID).number.numpy().sum(axis=(1, 2))
    assert_allclose(number, within.total_number(), rtol=1e-13)
    one = ParticleState.from_numpy(GRID.particle_masses[2, 5][None, None], 1.0, density=GRID.densities)
    there = CompositionState.from_particles(one, GRID).numpy()[0]
    assert there[2, 5] == pytest.approx(1.0, abs=1e-12)


def test_chi_at_its_ends() -> None:
    """External mixtures have 0, internal ones 1, one species alone and empty boxes have none."""
    number = np.ones(5)
    pure = CompositionState.from_populations([(number, [1, 0, 0]), (number, [0, 1, 0])], GRID)
    mixed = CompositionState.from_populations([(number, [1, 1, 2])], GRID)
    assert abs(pure.mixing_state_index()[0]) < 1e-15
    assert abs(mixed.mixing_state_index()[0] - 1.0) < 1e-14
    assert mixing_state_index_by_size(pure.numpy(), GRID)[0] == pytest.approx(1.0, abs=1e-14)
    alone = CompositionState.from_populations([(number, [0, 1, 0])], GRID)
    empty = CompositionState.from_numpy(np.zeros((5, GRID.fractions)), GRID)
    assert np.isnan(alone.mixing_state_index()).all()
    assert np.isnan(empty.mixing_state_index()).all()


def test_kappa_is_the_volume_weighted_mean() -> None:
    state = CompositionState.from_populations([(np.ones(5), [1, 0, 3])], GRID)
    kappas, number = state.kappa_distribution()
    assert np.all(np.diff(kappas) > 0)
    assert_allclose(number.sum(), 5.0)
    assert_allclose((number @ kappas) / number.sum(), 0.75 * 0.1, rtol=1e-13)
    assert_allclose(GRID.kappas, GRID.volume_fractions @ [0.0, 1.2, 0.1])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"number \[m\^-3\]: expected shape \[boxes, bins, fractions\]"):
        CompositionState.from_numpy(NUMBER[:, :, :-1], GRID)
    with pytest.raises(ValueError, match="negative"):
        CompositionState.from_numpy(-NUMBER, GRID)
    with pytest.raises(ValueError, match="species: expected different names"):
        CompositionGrid(SIZES, (SOOT, SOOT), 3)
    with pytest.raises(ValueError, match="as on the grid"):
        CompositionState.from_particles(ParticleState.from_numpy(np.ones((1, 2, 2)), 1.0), GRID)
    with pytest.raises(ValueError, match="density of x"):
        Species("x", -1.0)
    with pytest.raises(ValueError, match="amounts"):
        CompositionState.from_populations([(np.ones(5), [0, 0, 0])], GRID)
    with pytest.raises(ValueError, match="at least 2 bins"):
        CompositionGrid(SizeGrid(np.array([1e-22]), np.array([0.5e-22, 2e-22])), (SOOT,), 1)
