"""Air and particle transport against values from elsewhere."""

import numpy as np
import pytest

from retrograde.aerosol.physics import (
    diffusivity,
    dynamic_viscosity,
    mean_free_path,
    particle_transport,
    slip_correction,
)


def test_viscosity_is_that_of_the_standard_atmosphere():
    """U.S. Standard Atmosphere 1976, table I: 1.7894e-5 Pa s at 288.15 K, 1.4216e-5 at 216.65 K."""
    assert dynamic_viscosity(288.15) == pytest.approx(1.7894e-5, rel=2e-4)
    assert dynamic_viscosity(216.65) == pytest.approx(1.4216e-5, rel=3e-4)


def test_mean_free_path_is_that_of_the_textbook():
    """Seinfeld and Pandis: 0.0651 um at 298 K and 1 atm with mu = 1.8e-5 Pa s."""
    assert mean_free_path(298.0, 101325.0, 1.8e-5) == pytest.approx(0.0651e-6, rel=2e-3)


@pytest.mark.parametrize(("diameter", "slip"), [(0.01e-6, 22.2), (0.1e-6, 2.85), (1e-6, 1.164), (10e-6, 1.016)])
def test_slip_correction_is_that_of_the_textbook(diameter, slip):
    """Seinfeld and Pandis, table 9.3, with a mean free path of 0.0651 um, to its three figures."""
    assert slip_correction(2 * 0.0651e-6 / diameter) == pytest.approx(slip, rel=1.5e-2)


def test_diffusivity_is_that_of_the_textbook():
    """Seinfeld and Pandis, table 9.5 at 20 degC: 6.8e-10 m^2/s at 0.1 um, 2.4e-12 at 10 um."""
    mu = dynamic_viscosity(293.15)
    for d, expected in ((1e-7, 6.8e-10), (1e-5, 2.4e-12)):
        slip = slip_correction(2 * mean_free_path(293.15, 101325.0, mu) / d)
        assert diffusivity(d, 293.15, mu, slip) == pytest.approx(expected, rel=0.03)


def test_limits_of_small_particles():
    """In the free molecular regime D goes as Dp^-2; settling goes as Dp then."""
    moves = particle_transport(np.array([1e-10, 2e-10]), 298.15, 101325.0, 1000.0)
    assert moves.diffusivity[0] / moves.diffusivity[1] == pytest.approx(4.0, rel=5e-3)
    assert moves.settling_velocity[1] / moves.settling_velocity[0] == pytest.approx(2.0, rel=5e-3)
