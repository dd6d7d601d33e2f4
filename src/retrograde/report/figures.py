"""Numbers as a person reads them."""

from __future__ import annotations

import math

MISSING = "-"
"""Stands for a number that is not there."""


def figure(value: float | None) -> str:
    """A number to five digits."""
    return MISSING if value is None else f"{value:.5g}"


def share(error: float | None) -> str:
    """A relative error as a percentage, or as a multiple where it is large."""
    if error is None:
        return MISSING
    if not math.isfinite(error):
        return "not finite"
    return f"{100 * error:.2g} %" if error < 10 else f"{error:.3g} times"
