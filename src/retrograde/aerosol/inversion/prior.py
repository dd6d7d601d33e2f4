"""Smoothness: what is believed of an initial spectrum before anything was measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.parametrisation import LogKnots

Floats = NDArray[np.float64]


def roughness_matrix(unknown: LogKnots) -> Floats:
    """Matrix whose squared image of x is the roughness, the integral of (d^3 x / d(ln D)^3)^2 over ln D [1].

    The logarithm of a log-normal spectrum is a parabola in ln D, that of a power law a straight line: both are free,
    whatever their width or slope. Where the data say little, the spectrum goes on as the parabola that it was.

    Tikhonov (1963); in the form of differences Twomey (1963), doi:10.1145/321150.321157.

    Returns:
        Shape [knots - 3, knots].
    """
    h = unknown.spacing
    second = np.zeros((unknown.knots - 2, unknown.knots))
    for p in range(unknown.knots - 2):
        left, right = h[p], h[p + 1]
        second[p, p : p + 3] = np.array([1.0 / left, -1.0 / left - 1.0 / right, 1.0 / right]) / (0.5 * (left + right))
    third = np.diff(second, axis=0)
    # Between second differences about two neighbouring knots; their distance, and the part of ln D that they stand for.
    distance = (h[:-2] + h[1:-1] + h[2:]) / 3.0
    return third / np.sqrt(distance)[:, None]
