"""Smoothness: what is believed of an initial spectrum before anything was measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.parametrisation import LogKnots

Floats = NDArray[np.float64]


def roughness_matrix(unknown: LogKnots) -> Floats:
    """Matrix whose squared image of x is the roughness, the integral of (d^2 x / d(ln D)^2)^2 over ln D [1].

    A log-normal spectrum of geometric standard deviation s has the second derivative -1/(ln s)^2
    everywhere. Straight lines, so power laws, are free.

    Tikhonov (1963); in the form of second differences Twomey (1963), doi:10.1145/321150.321157.

    Returns:
        Shape [knots - 2, knots].
    """
    h = unknown.spacing
    rows = np.zeros((unknown.knots - 2, unknown.knots))
    for p in range(unknown.knots - 2):
        left, right = h[p], h[p + 1]
        mean = 0.5 * (left + right)
        rows[p, p : p + 3] = np.array([1.0 / left, -1.0 / left - 1.0 / right, 1.0 / right]) / mean * np.sqrt(mean)
    return rows
