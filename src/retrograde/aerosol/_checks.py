"""Checks of scalar parameters, with messages that name field and unit."""

from __future__ import annotations

import math


def check_positive(name: str, value: float, unit: str) -> None:
    """Raise a ValueError unless `value` is finite and above zero."""
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} [{unit}]: expected a finite positive number, got {value}")


def check_not_negative(name: str, value: float, unit: str) -> None:
    """Raise a ValueError unless `value` is finite and not below zero."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} [{unit}]: expected a finite number, zero or above, got {value}")
