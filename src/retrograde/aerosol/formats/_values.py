"""Numbers and labelled units as instruments' files write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_MISSING = {"", "nan", "na", "n/a", "-", "--", "none", "null", "nat"}
_WRONGLY_DECODED_CUBE = re.compile(r"cm[^\x00-\x7f]+3?$")
_NINES = re.compile(r"-9{2,}(\.9*)?0*$")
_NUMBER = re.compile(r"[-+]?(\d+([.]\d*)?|[.]\d+)([eEdD][-+]?\d+)?$")
_LABEL = re.compile(r"(?P<name>[^(\[]*?)\s*[(\[](?P<unit>.*)[)\]]\s*$")

TEMPERATURES: Mapping[str, tuple[float, float]] = {"c": (1.0, 273.15), "°c": (1.0, 273.15), "k": (1.0, 0.0)}
"""Factor and offset to kelvin."""

PRESSURES: Mapping[str, float] = {"pa": 1.0, "hpa": 100.0, "mbar": 100.0, "kpa": 1e3, "bar": 1e5, "atm": 101325.0}
"""Pascals in one unit."""

FLOWS: Mapping[str, float] = {
    "lpm": 1e-3 / 60.0,
    "l/min": 1e-3 / 60.0,
    "ccm": 1e-6 / 60.0,
    "cm3/min": 1e-6 / 60.0,
    "cm3/s": 1e-6,
    "m3/s": 1.0,
}
"""m^3 s^-1 in one unit."""

DENSITIES: Mapping[str, float] = {"g/cc": 1e3, "g/cm3": 1e3, "g/cm^3": 1e3, "kg/m3": 1.0, "kg/m^3": 1.0, "kgm-3": 1.0}
"""kg m^-3 in one unit."""


class Label(NamedTuple):
    """A column's name in lower case and its unit, both without blanks around; the unit as written."""

    name: str
    unit: str


def label(text: str) -> Label:
    """Name and unit of "Sheath Flow (L/min)", "pressure [Pa]" or "Sample #"."""
    match = _LABEL.match(text.strip())
    name, unit = (match["name"], match["unit"]) if match else (text, "")
    plain = unit.strip().replace("³", "3").replace("²", "2")
    return Label(" ".join(name.lower().split()), _WRONGLY_DECODED_CUBE.sub("cm3", plain))


def decimal_mark(texts: Iterable[str]) -> str:
    """The decimal mark of numbers: a comma if any of them has one and none a point, else a point."""
    comma = False
    for text in texts:
        if "." in text:
            return "."
        comma = comma or "," in text
    return "," if comma else "."


def is_missing(text: str) -> bool:
    """Whether a cell stands for no value: blank, a word for it, or nines as in -999.9."""
    return text.strip().lower() in _MISSING or _NINES.match(text.strip()) is not None


def number(text: str, mark: str = ".") -> float:
    """A finite number, NaN for a missing one.

    Raises:
        ValueError: The text is neither.
    """
    plain = text.strip()
    if mark == ",":
        if "." in plain:
            raise ValueError(f"{text!r} is no number with a decimal comma")
        plain = plain.replace(",", ".")
    if is_missing(plain):
        return math.nan
    if not _NUMBER.match(plain):
        raise ValueError(f"{text!r} is no number")
    value = float(plain.replace("d", "e").replace("D", "e"))
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is too large for a number")
    return value


def in_unit(value: float, unit: str, units: Mapping[str, float], quantity: str) -> float:
    """`value` in SI.

    Raises:
        ValueError: The unit is unknown.
    """
    factor = units.get(unit.lower().replace(" ", ""))
    if factor is None:
        raise ValueError(f"{unit!r} is no known unit of {quantity}; known are {', '.join(units)}")
    return value * factor


def kelvin(value: float, unit: str) -> float:
    """Temperature [K]; a ValueError if the unit is unknown."""
    found = TEMPERATURES.get(unit.lower().replace(" ", ""))
    if found is None:
        raise ValueError(f"{unit!r} is no known unit of temperature; known are C and K")
    return value * found[0] + found[1]
