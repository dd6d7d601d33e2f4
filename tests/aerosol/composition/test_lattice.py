"""Compositions are split between lattice points without gain or loss, for any number of species."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose

from retrograde.aerosol.composition import CompositionLattice

LATTICES = [CompositionLattice(*shape) for shape in ((1, 4), (2, 1), (2, 7), (3, 4), (4, 3))]


def several(lattice: CompositionLattice) -> np.ndarray:
    """Random compositions, the lattice's own, pure ones, and ones a rounding away from a point."""
    rng = np.random.default_rng(3)
    inside = rng.dirichlet(np.full(lattice.species, 0.7), size=500)
    near = lattice.fractions + 1e-16 * rng.normal(size=lattice.fractions.shape)
    near = np.abs(near) / np.abs(near).sum(axis=1, keepdims=True)
    return np.concatenate([inside, lattice.fractions, near, np.eye(lattice.species)])


@pytest.mark.parametrize("lattice", LATTICES, ids=str)
def test_the_lattice_holds_all_compositions_in_steps(lattice: CompositionLattice) -> None:
    points = lattice.fractions
    assert len(points) == comb(lattice.levels + lattice.species - 1, lattice.species - 1)
    assert len(np.unique(points, axis=0)) == len(points)
    assert_allclose(points.sum(axis=1), 1.0, rtol=1e-15)
    assert_allclose(points * lattice.levels, np.round(points * lattice.levels), atol=1e-13)


@pytest.mark.parametrize("lattice", LATTICES, ids=str)
def test_a_split_keeps_every_share_and_is_never_negative(lattice: CompositionLattice) -> None:
    composition = several(lattice)
    points, weights = lattice.split(composition)
    assert weights.min() >= 0.0
    assert_allclose(weights.sum(axis=1), 1.0, rtol=3e-16)
    assert_allclose(np.einsum("nk,nks->ns", weights, lattice.fractions[points]), composition, atol=1e-15)


@pytest.mark.parametrize("lattice", LATTICES, ids=str)
def test_points_stay_where_they_are_and_others_go_to_neighbours(lattice: CompositionLattice) -> None:
    points, weights = lattice.split(lattice.fractions)
    heaviest = points[np.arange(len(points)), weights.argmax(axis=1)]
    assert np.array_equal(heaviest, np.arange(len(points)))
    composition = several(lattice)
    points, weights = lattice.split(composition)
    away = np.abs(lattice.fractions[points] - composition[:, None]).max(axis=2)
    assert away[weights > 1e-12].max() <= 1.0 / lattice.levels + 1e-12


def test_the_split_is_continuous() -> None:
    """Across the faces of the simplices, so that a state's derivative exists on both sides of each."""
    lattice = CompositionLattice(3, 4)
    path = np.linspace(0.0, 1.0, 20_001)[:, None]
    line = (1 - path) * np.array([0.9, 0.07, 0.03]) + path * np.array([0.05, 0.15, 0.8])
    points, weights = lattice.split(line)
    dense = np.zeros((len(line), len(lattice.fractions)))
    np.add.at(dense, (np.arange(len(line))[:, None], points), weights)
    assert np.abs(np.diff(dense, axis=0)).max() < 2e-3


def test_sizes_that_make_no_lattice_are_refused() -> None:
    with pytest.raises(ValueError, match="levels: expected 1 or more"):
        CompositionLattice(2, 0)
