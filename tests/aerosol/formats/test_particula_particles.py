"""Particles of particula's form: there and back, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from retrograde.aerosol.formats import particles_from_particula, particles_to_particula, sectional_from_particula
from retrograde.aerosol.grids import SizeGrid


def data(**changes):
    fields = {
        "masses": np.array([[[1e-18, 0.0], [0.0, 0.0], [2e-18, 3e-18]], [[4e-18, 1e-18], [1e-18, 1e-18], [0.0, 0.0]]]),
        "concentration": np.array([[1.0, 0.0, 1.0], [5.0, 5.0, 0.0]]),
        "density": np.array([1000.0, 1500.0]),
        "volume": np.array([1e-6, 2e-6]),
    }
    return SimpleNamespace(**{**fields, **changes})


def test_particles_go_there_and_back():
    state = particles_from_particula(data())
    np.testing.assert_allclose(state.total_number(), [2e6, 5e6])
    np.testing.assert_allclose(state.volume, [1e-6, 4e-7])
    assert np.array_equal(state.numpy(), data().masses)
    back = particles_to_particula(state, dict)
    assert back["concentration"].tolist() == [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    again = particles_from_particula(SimpleNamespace(**back))
    assert np.array_equal(again.numpy(), state.numpy())
    assert np.array_equal(again.volume, state.volume)


def test_both_readings_of_one_object_agree():
    grid = SizeGrid.from_ratio(5e-22, 1.2, 30)
    sectional, state = sectional_from_particula(data(), grid), particles_from_particula(data())
    np.testing.assert_allclose(state.total_number(), sectional.total_number())
    np.testing.assert_allclose(state.moment(1.0), sectional.total_volume())


def test_what_is_no_state_of_equal_particles_is_refused():
    with pytest.raises(ValueError, match="box 1 have different weights, 2 to 5"):
        particles_from_particula(data(concentration=np.array([[1.0, 0.0, 1.0], [5.0, 2.0, 0.0]])))
    with pytest.raises(ValueError, match=r"density \[kg m\^-3\]: expected shape \[2\]"):
        particles_from_particula(data(density=np.array([1000.0])))
    with pytest.raises(ValueError, match="negative"):
        particles_from_particula(data(masses=-data().masses))
