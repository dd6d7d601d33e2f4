"""Clusters of a monodisperse start: how many k-mers there are at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from retrograde.aerosol._checks import check_not_negative

Floats = NDArray[np.float64]


def constant_kmers(sizes: Any, tau: float) -> Floats:
    """k-mers per initial particle [1] under the constant kernel.

    n_k / N0 = (tau / 2)^(k - 1) / (1 + tau / 2)^(k + 1)

    Args:
        sizes: Numbers k of initial particles in a cluster, from 1 on [1].
        tau: Dimensionless time K0 N0 t [1].

    Source: Smoluchowski (1916), Physikalische Zeitschrift 17, 557.
    """
    check_not_negative("tau", tau, "1")
    k = _sizes(sizes)
    return np.exp(_power(k - 1.0, 0.5 * tau) - (k + 1.0) * np.log1p(0.5 * tau))


def additive_kmers(sizes: Any, eta: float) -> Floats:
    """k-mers per initial particle [1] under the additive kernel b (v + w).

    n_k / N0 = (1 - T) (k T)^(k - 1) exp(-k T) / k!, T = 1 - exp(-eta)

    Args:
        sizes: Numbers k of initial particles in a cluster, from 1 on [1].
        eta: Dimensionless time b N0 v0 t [1].

    Source: Golovin (1963), Bulletin of the Academy of Sciences of the USSR, Geophysics 5, 482.
    """
    check_not_negative("eta", eta, "1")
    k = _sizes(sizes)
    progress = -float(np.expm1(-eta))
    return np.exp(-eta + _power(k - 1.0, progress) + (k - 1.0) * np.log(k) - k * progress - gammaln(k + 1.0))


def product_kmers(sizes: Any, progress: float) -> Floats:
    """k-mers per initial particle [1] under the product kernel b v w, before gelling.

    n_k / N0 = k^(k - 2) T^(k - 1) exp(-k T) / k!

    Args:
        sizes: Numbers k of initial particles in a cluster, from 1 on [1].
        progress: Dimensionless time T = b N0 v0^2 t, below 1 [1].

    Source: McLeod (1962), Quarterly Journal of Mathematics 13, 119, doi:10.1093/qmath/13.1.119.
    """
    check_not_negative("progress", progress, "1")
    if progress >= 1.0:
        raise ValueError(f"progress [1]: expected a time before gelling at 1, got {progress:g}")
    k = _sizes(sizes)
    return np.exp(_power(k - 1.0, progress) + (k - 2.0) * np.log(k) - k * progress - gammaln(k + 1.0))


def _sizes(sizes: Any) -> Floats:
    k = np.asarray(sizes, dtype=np.float64)
    if not ((k >= 1).all() and (k == np.floor(k)).all()):
        raise ValueError("sizes [1]: expected whole numbers from 1 on")
    return k


def _power(exponent: Floats, base: float) -> Floats:
    """The exponent times ln(base), with 0 * ln(0) = 0."""
    if base > 0.0:
        return exponent * np.log(base)
    return np.where(exponent > 0.0, -np.inf, 0.0)
