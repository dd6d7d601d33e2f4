"""The scanning classifier against particles traced through it, and charging against published fractions."""

import numpy as np
import pytest
from scipy.integrate import quad

from retrograde.aerosol.formats._classifier import (
    Column,
    Ramp,
    charged_fraction,
    electrical_mobility,
    inlet_times,
    number_per_count,
    selecting_voltage,
)

COLUMN = Column(0.00937, 0.01961, 0.44369)
RAMP = Ramp(*(np.full((1, 1), x) for x in (5e-5, 10.0, 9800.0, 120.0, 7.0, 6.65e-8, 1.82e-5)))
DIAMETERS = np.geomspace(20e-9, 500e-9, 6)


def test_a_particle_traced_through_the_rising_field_leaves_at_the_outlet():
    """Radial drift Z V(t) / (r ln(r2/r1)) over the transit from the outer wall's stream to the inner slit.

    In plug flow, the centre of the transfer function is the particle that crosses, in r^2, the whole sheath: the
    volume swept, 2 pi L Z V / ln(r2/r1) integrated over the transit and divided by it, is the sheath flow.
    """
    times = inlet_times(DIAMETERS, RAMP, COLUMN)[0]
    for diameter, entry in zip(DIAMETERS, times, strict=True):
        mobility = electrical_mobility(diameter, 6.65e-8, 1.82e-5)
        swept, _ = quad(
            lambda t, z=mobility: 2.0 * np.pi * COLUMN.length * z * 10.0 * 980.0 ** (t / 120.0) / np.log(1961 / 937),
            entry,
            entry + 7.0,
        )
        assert swept / 7.0 == pytest.approx(5e-5, rel=1e-10)


def test_sizes_outside_the_ramp_take_its_ends():
    times = inlet_times(np.array([1e-9, 5e-6]), RAMP, COLUMN)[0]
    np.testing.assert_allclose(times, [0.0, 113.0])


def test_voltage_and_mobility_are_those_of_a_textbook_classifier():
    """Hinds (1999), Aerosol Technology, table A11: mobility of 0.1 um at 293 K, 1 atm, 2.70e-8 m^2/(V s)."""
    mobility = electrical_mobility(1e-7, 6.6e-8, 1.81e-5)
    assert mobility == pytest.approx(2.70e-8, rel=0.03)
    assert selecting_voltage(mobility, 5e-5, COLUMN) * mobility == pytest.approx(
        5e-5 * np.log(1961 / 937) / (2.0 * np.pi * 0.44369), rel=1e-12
    )


@pytest.mark.parametrize(
    ("diameter", "negative", "positive"),
    [(20e-9, 0.1098, 0.0844), (50e-9, 0.2223, 0.1696), (100e-9, 0.2793, 0.2137)],
)
def test_charged_fractions_are_the_published_ones(diameter, negative, positive):
    """Wiedensohler (1988), table 2, to its rounding; positive fractions as tabulated in ISO 15900."""
    assert charged_fraction(np.array([diameter]), positive=False)[0] == pytest.approx(negative, rel=0.02)
    assert charged_fraction(np.array([diameter]), positive=True)[0] == pytest.approx(positive, rel=0.02)


def test_a_uniform_aerosol_passes_as_many_as_the_transfer_function_lets_through():
    """Counts by brute force: the triangle of half width Qa/Qsh in mobility, swept by the ramp over one bin's worth.

    An aerosol of constant number per ln of mobility gives counts at a constant rate; in the time that the ramp takes
    through one bin they number what `number_per_count` says of the bin.
    """
    diameter, beta, flow = 80e-9, 0.1, 5e-6
    per_ln_mobility = 1e9
    charged = charged_fraction(np.array([diameter]), positive=True)[0] * per_ln_mobility
    through, _ = quad(lambda x: max(0.0, 1.0 - abs(x - 1.0) / beta) / x, 1.0 - beta, 1.0 + beta, points=[1.0])
    width = 0.05  # of a bin, in ln of mobility
    duration = width * 120.0 / np.log(980.0)
    counts = flow * charged * through * duration
    one = number_per_count(
        np.array([diameter]), RAMP, aerosol_flow=np.array([[5e-6]]), sample_flow=np.array([[flow]]), positive=True
    )
    assert counts * one[0, 0] == pytest.approx(per_ln_mobility * width, rel=3e-3)
