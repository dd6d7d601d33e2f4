"""Does the model hold between the time to recover and the last scan that was seen?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from retrograde.aerosol.inversion.errors import ErrorSizes
from retrograde.aerosol.inversion.forecast import Forecast

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

SIGNIFICANCE = 0.01
"""The model is rejected where its predictions would differ so much by chance less often than this."""

_COMFORT = 0.1
"""The model's error is widened until the probability is this large, or its limit is reached."""

_OWN = 0.02
"""Error of every sum by itself, relative [1]: fluctuations of the air, curvature that Laplace leaves out."""

_CUTS = (0.2, 0.4, 0.6, 0.8)
"""Shares of the number below the inner edges of the size classes."""

_SIZES = 12


@dataclass(frozen=True, eq=False)
class Adequacy:
    """A test of the whole model on all scans from the recovered time to the last seen one.

    Residuals are summed over five size classes of equal number and over turns of consecutive scans. Their
    covariance holds counting noise, the instrument's errors, those of the prescribed processes, the
    uncertainty of the recovered state, and an error of what the model leaves out. The statistic is
    their squared length in units of it. The last error is the smallest that the scans are at ease
    with, between its two bounds; a model that would need more is rejected.

    Attributes:
        statistic: Chi-squared statistic [1].
        freedom: Its degrees of freedom.
        p: Probability of a larger one if the model holds.
        adequate: Whether `p` is at least `SIGNIFICANCE`; None where one scan is all there is and
            nothing can be tested.
        model_error: Error of what the model leaves out, as large as the scans ask for, relative [1].
        relative: Measured over predicted less one, by turn and class [1], shape [turns, classes].
        allowed: Standard deviation of that [1], shape [turns, classes].
        turns: First and last scan of each turn, shape [turns, 2].
        class_edges: Edges of the size classes [m], shape [classes + 1].
    """

    statistic: float
    freedom: int
    p: float
    adequate: bool | None
    model_error: float
    relative: Floats
    allowed: Floats
    turns: Ints
    class_edges: Floats

    @property
    def is_rejected(self) -> bool:
        """Whether the model was tested and does not hold."""
        return self.adequate is False

    @property
    def worst(self) -> tuple[int, int]:
        """Turn and class of the largest residual in units of its standard deviation."""
        size = np.abs(self.relative) / self.allowed
        turn, kind = np.unravel_index(int(np.argmax(size)), size.shape)
        return int(turn), int(kind)


def assess(forecast: Forecast, turns: list[Ints], sizes: ErrorSizes) -> Adequacy:
    """Test the model on a forecast's scans.

    Args:
        forecast: Forecast of the scans that were seen and of all others of the time span.
        turns: Turns of consecutive scans to test.
        sizes: Sizes of the errors that the forecast was made with.
    """
    channels = forecast.channels
    scans = np.concatenate(turns)
    edges = _class_edges(forecast)
    kind = np.clip(np.searchsorted(edges, channels.diameters, side="right") - 1, 0, len(edges) - 2)
    rows: list[Floats] = []
    for turn in turns:
        in_turn = np.isin(channels.scans, turn)
        rows += [(in_turn & (kind == k)).astype(np.float64) for k in range(len(edges) - 1)]
    weights = np.array(rows)
    scaled = weights / np.maximum(weights @ forecast.predicted, 1e-300)[:, None]
    relative = scaled @ forecast.residual
    tested = len(scans) > 1
    tries = np.geomspace(sizes.model, sizes.model_limit, _SIZES).tolist() if tested else [sizes.model]
    size, p, statistic, covariance = 0.0, 0.0, 0.0, np.zeros((0, 0))
    for size in tries:
        covariance = forecast.with_model_error(size / sizes.model).covariance(scaled) + _OWN**2 * np.eye(len(scaled))
        statistic = float(relative @ np.linalg.solve(covariance, relative))
        p = float(chdtrc(len(relative), statistic))
        if p >= _COMFORT:
            break
    shape = (len(turns), len(edges) - 1)
    return Adequacy(
        statistic=statistic,
        freedom=len(relative),
        p=p,
        adequate=p >= SIGNIFICANCE if tested else None,
        model_error=size,
        relative=relative.reshape(shape),
        allowed=np.sqrt(np.diagonal(covariance)).reshape(shape),
        turns=np.array([[turn[0], turn[-1]] for turn in turns]),
        class_edges=edges,
    )


def _class_edges(forecast: Forecast) -> Floats:
    """Edges of the size classes by the mean over the scans [m]."""
    channels = forecast.channels
    bins, index = np.unique(channels.bins, return_inverse=True)
    number = np.bincount(index, weights=np.maximum(channels.smoothed, 0.0))
    diameters = np.bincount(index, weights=channels.diameters) / np.bincount(index)
    cumulative = np.cumsum(number) / number.sum()
    cuts = np.searchsorted(cumulative, _CUTS)
    inner = np.unique(np.sqrt(diameters[cuts] * diameters[np.minimum(cuts + 1, len(bins) - 1)]))
    return np.concatenate([[diameters[0] * 0.99], inner, [diameters[-1] * 1.01]])
