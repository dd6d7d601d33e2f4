"""Baselines: what is subtracted from a loss before its score is multiplied with it."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FOLDS = 5


class Baseline(Enum):
    """What is subtracted from a loss to make a score function estimator less noisy; none of them adds a bias."""

    NONE = "none"
    """Nothing."""
    LEAVE_ONE_OUT = "leave one out"
    """The mean of all other boxes' losses."""
    REGRESSION = "regression"
    """A linear function of the initial state, fitted to boxes of other folds."""


def expected_loss(baseline: Baseline, losses: Floats, features: Floats) -> tuple[Floats, Floats]:
    """What the loss of every box is expected to be, without a look at that box.

    Args:
        baseline: Which kind.
        losses: Losses, shape [boxes].
        features: What is known of a box at its start, each of mean zero, shape [boxes, features].

    Returns:
        Expected losses, shape [boxes], and their slopes in the features, shape [boxes, features].
    """
    none = np.zeros_like(features)
    if baseline is Baseline.NONE:
        return np.zeros_like(losses), none
    if baseline is Baseline.LEAVE_ONE_OUT:
        return (losses.sum() - losses) / (len(losses) - 1), none
    return _regression(losses, features)


def _regression(losses: Floats, features: Floats) -> tuple[Floats, Floats]:
    boxes, count = features.shape
    folds = min(_FOLDS, boxes)
    fold: NDArray[np.int64] = np.arange(boxes, dtype=np.int64) % folds
    design = np.column_stack([np.ones(boxes), features])
    expected, slopes = np.empty(boxes), np.empty((boxes, count))
    for k in range(folds):
        others: NDArray[np.bool_] = fold != k
        solution = np.linalg.lstsq(design[others], losses[others], rcond=None)[0]
        expected[~others] = design[~others] @ solution
        slopes[~others] = solution[1:]
    return expected, slopes
