"""How far a rung of the ladder is from the reference, as one number."""

from __future__ import annotations

import math

import numpy as np

from retrograde.gradients.rungs import Array, Direction, Ladder

RUNGS = ("consumed", "taped", "ideal")
"""Names of the rungs that are held against the reference, from the user's number to the perfect tape's."""


def rung(owner: Ladder | Direction, name: str) -> Array | float | None:
    """The rung called `name` of a ladder (an array), or of one of its directions (a number)."""
    return getattr(owner, name)


def norm(values: Array | None) -> float | None:
    """Euclidean norm; None where a rung is missing or one of its elements is unknown."""
    if values is None:
        return None
    return float(np.linalg.norm(values))


def reference_norm(ladder: Ladder) -> float | None:
    """Euclidean norm of the reference; None unless every element was probed."""
    if ladder.reference is None or np.isnan(ladder.reference).any():
        return None
    return norm(ladder.reference)


def reference_error(ladder: Ladder) -> float | None:
    """Half-width of the error bar of the reference: the norm over probed elements, or over directions without them."""
    if ladder.reference_error is not None and not np.isnan(ladder.reference_error).all():
        return float(np.linalg.norm(ladder.reference_error[~np.isnan(ladder.reference_error)]))
    if ladder.directions:
        return math.hypot(*(direction.error for direction in ladder.directions))
    return None


def relative_error(ladder: Ladder, name: str) -> float | None:
    """Distance of the rung called `name` from the reference, relative to the reference.

    Over all elements where each was probed, else over the directions that were measured, else over the elements that
    were. Infinite where the rung is not finite, or where the reference is zero and the rung is not.

    Returns:
        The error [1], or None where the rung or the reference is missing.
    """
    pairs = _pairs(ladder, name)
    if pairs is None:
        return None
    mine, reference = pairs
    if not np.isfinite(mine).all():
        return math.inf
    distance = float(np.linalg.norm(mine - reference))
    scale = float(np.linalg.norm(reference))
    if scale == 0.0:
        return 0.0 if distance == 0.0 else math.inf
    return distance / scale


def _pairs(ladder: Ladder, name: str) -> tuple[Array, Array] | None:
    values = rung(ladder, name)
    if reference_norm(ladder) is None and ladder.directions:
        measured = [(rung(direction, name), direction.reference) for direction in ladder.directions]
        known = [(float(mine), theirs) for mine, theirs in measured if isinstance(mine, int | float)]
        if known:
            mine, theirs = zip(*known, strict=True)
            return np.array(mine, dtype=np.float64), np.array(theirs, dtype=np.float64)
    if ladder.reference is None or not isinstance(values, np.ndarray):
        return None
    probed = ~np.isnan(ladder.reference)
    if not probed.any():
        return None
    return values[probed], ladder.reference[probed]
