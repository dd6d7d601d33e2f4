"""The Poisson deviance: likelihood ratio, its distribution at the truth, and its tangent below the floor."""

import numpy as np
import pytest
from scipy.stats import poisson

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.losses import PoissonLoss

GRID = SizeGrid.geometric(1e-8, 1e-7, bins_per_decade=4)
BINS = GRID.bins
EYE = np.eye(BINS)


def state(number) -> SectionalState:
    return SectionalState.from_numpy(number, GRID)


def test_deviance_is_twice_the_log_likelihood_ratio():
    counts, expected = np.array([0.0, 1.0, 7.0, 40.0, 3.0]), np.array([0.3, 2.0, 5.0, 44.0, 3.0])
    ratio = 2 * (poisson.logpmf(counts, np.where(counts > 0, counts, 1e-300)) - poisson.logpmf(counts, expected))
    assert PoissonLoss(GRID, counts, EYE)(state(expected)).numpy()[0] == pytest.approx(ratio.sum(), rel=1e-12)


def test_no_state_fits_better_than_the_counts_themselves():
    counts = np.array([0.0, 1.0, 7.0, 40.0, 3.0])
    loss = PoissonLoss(GRID, counts, EYE)
    assert loss(state(counts)).numpy()[0] == pytest.approx(0.0, abs=1e-13)
    np.testing.assert_allclose(loss.gradient(state(counts)).numpy()[0, 1:], 0.0, atol=1e-14)


def test_loss_at_the_truth_is_about_one_a_channel():
    """For large counts the deviance is chi-squared with one degree a channel: mean 1, variance 2."""
    truth = np.array([200.0, 900.0, 3000.0, 500.0, 120.0])
    samples = np.random.default_rng(9).poisson(truth, size=(4000, BINS)).astype(float)
    loss = PoissonLoss(GRID, samples, EYE)(state(np.repeat(truth[None], 4000, axis=0))).numpy()
    standard_error = np.sqrt(2 * BINS / 4000)
    assert abs(loss.mean() - BINS) <= 3 * standard_error + BINS / 600


def test_nothing_expected_where_something_was_counted_is_finite_and_its_slope_points_up():
    loss = PoissonLoss(GRID, np.full(BINS, 3.0), EYE, floor=1e-3)
    nothing = state(np.zeros(BINS))
    assert np.isfinite(loss(nothing).numpy()).all()
    np.testing.assert_allclose(loss.gradient(nothing).numpy(), 2 * (1 - 3.0 / 1e-3), rtol=1e-14)


def test_value_and_slope_are_continuous_at_the_floor():
    loss = PoissonLoss(GRID, np.full(BINS, 3.0), EYE, floor=0.5)
    below, above = state(np.full(BINS, 0.5 * (1 - 1e-9))), state(np.full(BINS, 0.5 * (1 + 1e-9)))
    np.testing.assert_allclose(loss(below).numpy(), loss(above).numpy(), rtol=1e-8)
    np.testing.assert_allclose(loss.gradient(below).numpy(), loss.gradient(above).numpy(), rtol=1e-8)


def test_response_mixes_bins_into_channels():
    response = np.array([[1.0, 0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 1.0, 0.2, 0.0]])
    number = np.array([2.0, 4.0, 1.0, 5.0, 9.0])
    background = np.array([0.5, 0.25])
    expected = response @ number + background
    loss = PoissonLoss(GRID, expected, response, background)
    assert loss(state(number)).numpy()[0] == pytest.approx(0.0, abs=1e-13)
    doubled = PoissonLoss(GRID, 2 * expected, response, background).gradient(state(number)).numpy()[0]
    np.testing.assert_allclose(doubled, -2.0 * response.sum(axis=0), rtol=1e-13)
