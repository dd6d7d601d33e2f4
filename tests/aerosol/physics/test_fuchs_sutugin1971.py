"""Fuchs and Sutugin's correction, known values and limits; Kelvin's ratio."""

import numpy as np
import pytest

from retrograde.aerosol.physics import kelvin_ratio, transition_correction, uptake_rate


@pytest.mark.parametrize(
    ("knudsen", "expected"), [(0.01, 0.992883), (0.1, 0.928740), (1.0, 0.494560), (10.0, 0.072636), (100.0, 0.007478)]
)
def test_transition_correction(knudsen, expected):
    assert transition_correction(knudsen, 1.0) == pytest.approx(expected, abs=5e-7)


def test_uptake_goes_over_into_that_of_the_continuum_and_of_free_molecules():
    diffusivity, molar_mass, temperature = 1e-5, 0.1, 298.15
    large, small = 1e-2, 1e-10
    continuum = 2 * np.pi * large * diffusivity
    assert uptake_rate(large, diffusivity, molar_mass, 1.0, temperature) == pytest.approx(continuum, rel=1e-4)
    speed = np.sqrt(8 * 8.31446261815324 * temperature / (np.pi * molar_mass))
    free = 0.25 * 0.3 * speed * np.pi * small**2
    assert uptake_rate(small, diffusivity, molar_mass, 0.3, temperature) == pytest.approx(free, rel=1e-2)


def test_kelvin_ratio_of_a_water_droplet():
    """A length of 2.0993e-9 m, as in tables of cloud activation at 298.15 K."""
    assert np.log(kelvin_ratio(1e-7, 0.072, 0.018015, 997.0, 298.15)) == pytest.approx(2.0993e-2, rel=2e-3)
