"""Exact mixing state of a monodisperse, externally mixed start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

Floats = NDArray[np.float64]

_BLOCK = 64
_LARGEST = 20_000
_TOLERANCE = 1e-12
_DEVIATIONS = 12.0


def mixing_state_index(kmers: Callable[[Floats], Floats], fractions: Any) -> float:
    """Mixing-state index chi [1] of clusters whose composition coagulation does not see.

    The start is monodisperse; a number fraction phi_a of the particles is pure species a, all of one
    density. Under any kernel that is blind to composition a k-mer holds Binomial(k, phi_a) particles
    of species a. chi = (D_alpha - 1) / (D_gamma - 1), D_alpha = exp of the mass-weighted mean entropy
    of the particles, D_gamma = exp of the entropy of the bulk.

    Args:
        kmers: k-mers per initial particle [1] at sizes k [1], for example
            `lambda k: constant_kmers(k, 1.0)`.
        fractions: Number fractions phi_a of the species, summing to 1 [1], shape [species].

    Raises:
        ValueError: The fractions are no composition or only one species is there, or clusters of
            more than 20,000 hold more than 1e-12 of the mass.

    Source: Riemer and West (2013), Atmospheric Chemistry and Physics 13, 11423,
    doi:10.5194/acp-13-11423-2013.
    """
    phi = np.asarray(fractions, dtype=np.float64)
    if phi.ndim != 1 or not ((phi >= 0).all() and abs(float(phi.sum()) - 1.0) <= 1e-12):
        raise ValueError(f"fractions [1]: expected shape [species], none negative, summing to 1, got {phi}")
    phi = phi[phi > 0]
    if phi.size < 2:
        raise ValueError("fractions [1]: chi is not defined for a single species")
    mass = 0.0
    entropy = 0.0
    for start in range(1, _LARGEST, _BLOCK):
        sizes = np.arange(start, start + _BLOCK, dtype=np.float64)
        weights = sizes * kmers(sizes)
        mass += float(weights.sum())
        entropy += float(weights @ np.array([_expected_entropy(int(k), phi) for k in sizes]))
        if 1.0 - mass < _TOLERANCE:
            bulk = -float(np.sum(phi * np.log(phi)))
            return float(np.expm1(entropy / mass) / np.expm1(bulk))
    raise ValueError(f"clusters of more than {_LARGEST} hold {1.0 - mass:.2g} of the mass")


def _expected_entropy(size: int, fractions: Floats) -> float:
    """Mean entropy [1] of a k-mer's composition, by linearity over the species' marginals."""
    return float(sum(_expected_term(size, float(p)) for p in fractions))


def _expected_term(size: int, p: float) -> float:
    """Mean of -q ln q for q = j / size, j binomial, over the counts that carry all but 1e-30 of the weight."""
    reach = _DEVIATIONS * np.sqrt(size * p * (1.0 - p)) + _DEVIATIONS**2
    low, high = max(0, int(size * p - reach)), min(size, int(size * p + reach) + 1)
    j = np.arange(low, high + 1, dtype=np.float64)
    logs = j * np.log(p) + (size - j) * np.log1p(-p) - gammaln(j + 1.0) - gammaln(size - j + 1.0)
    weights = np.exp(logs - logs.max())
    share = j / size
    return -float(weights @ xlogy(share, share)) / float(weights.sum())
