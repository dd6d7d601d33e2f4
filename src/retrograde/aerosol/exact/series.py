"""Sums of series of positive terms known by their logarithms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BLOCK = 256
_LARGEST = 1_000_000


def sum_terms(log_term: Callable[[Floats], Floats]) -> float:
    """Sum over k = 0, 1, 2, ... of exp(log_term(k)), terms rising at most once and then falling.

    Ends where a block's last term is below 1e-18 of the sum and falling, its tail bounded by the
    geometric series of the last ratio.

    Raises:
        ValueError: A million terms do not suffice.
    """
    total = 0.0
    for start in range(0, _LARGEST, _BLOCK):
        terms = np.exp(log_term(np.arange(start, start + _BLOCK, dtype=np.float64)))
        total += float(terms.sum())
        last, before = float(terms[-1]), float(terms[-2])
        if last == 0.0 and total > 0.0:
            return total
        if last < before and last / (1.0 - last / before) < 1e-18 * total:
            return total
    raise ValueError(f"the series needs more than {_LARGEST} terms: too close to its singularity")
