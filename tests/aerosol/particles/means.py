"""Means over boxes, held to what they should be with the power to see a given relative error."""

from __future__ import annotations

import numpy as np


def assert_mean(samples: np.ndarray, expected: float, power: float, deviations: float = 3.0) -> None:
    """The mean agrees within three standard errors, and three standard errors are less than `power`."""
    mean, error = samples.mean(), samples.std(ddof=1) / np.sqrt(len(samples))
    assert deviations * error <= power * abs(expected), f"standard error {error / expected:.2e} cannot see {power}"
    assert abs(mean - expected) <= deviations * error, f"{mean} is {(mean - expected) / error:.1f} s.e. from {expected}"


def assert_spectrum(samples: np.ndarray, expected: np.ndarray, limit: float = 3.5) -> None:
    """Means by bin, shape [boxes, bins], agree within `limit` standard errors in every bin."""
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    scores = np.abs(samples.mean(axis=0) - expected) / np.where(error > 0, error, 1.0)
    assert (error[expected > 1e-6 * expected.sum()] > 0).all()
    assert scores.max() <= limit, scores
