"""kappa-Koehler theory: known critical supersaturations, the top of the curve, limits; activities."""

import numpy as np
import pytest

from retrograde.aerosol.physics import (
    critical_supersaturation,
    ideal_activity,
    kappa_activity,
    koehler_saturation_ratio,
    mean_decay,
)

A = 2.0993e-9


@pytest.mark.parametrize(
    ("kappa", "diameter", "percent"),
    [(0.61, 50e-9, 0.4244), (0.61, 100e-9, 0.1499), (0.1, 50e-9, 1.0286), (0.1, 100e-9, 0.3677), (0.01, 50e-9, 2.4601)],
)
def test_critical_supersaturation(kappa, diameter, percent):
    assert 100.0 * critical_supersaturation(diameter, kappa, A) == pytest.approx(percent, abs=5e-5)


def test_it_is_the_top_of_the_curve():
    wet = 50e-9 * np.exp(np.linspace(1e-4, 3.0, 200_001))
    curve = koehler_saturation_ratio(wet, 50e-9, 0.1, A)
    assert critical_supersaturation(50e-9, 0.1, A) == pytest.approx(curve.max() - 1.0, rel=1e-8)


def test_without_hygroscopicity_a_particle_is_a_droplet_of_water():
    assert critical_supersaturation(50e-9, 0.0, A) == pytest.approx(np.expm1(A / 50e-9), rel=1e-12)


def test_large_droplets_follow_the_textbook_approximation():
    """ln S = sqrt(4 A^3 / (27 kappa Dd^3)), within a hundredth at kappa 0.6 and 200 nm."""
    approximate = np.sqrt(4 * A**3 / (27 * 0.6 * (200e-9) ** 3))
    assert critical_supersaturation(200e-9, 0.6, A) == pytest.approx(approximate, rel=1e-2)


def test_activities_at_their_ends():
    assert kappa_activity(0.0, 1.0, 0.6) == 0.0
    assert kappa_activity(1.0, 0.0, 0.6) == 1.0
    assert kappa_activity(1.0, 1.0, 1.0) == 0.5
    assert ideal_activity(1.0, 4.0) == 0.25


def test_mean_decay_is_the_mean():
    u = (np.arange(100_000) + 0.5) / 100_000
    for x in (1e-4, 0.3, 7.0):
        assert mean_decay(x) == pytest.approx(np.exp(-x * u).mean(), rel=1e-9)
    assert mean_decay(0.0) == 1.0
