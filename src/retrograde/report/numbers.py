"""Numbers in documents: JSON has none that are not finite."""

from __future__ import annotations

import math


def number(value: float | None) -> float | str | None:
    """A number for a document; the strings "nan", "inf" and "-inf" stand for what JSON lacks."""
    if value is None or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def read_number(value: float | str | None) -> float | None:
    """The number that `number` wrote."""
    return None if value is None else float(value)
