"""Quantities of an AIM export by name, from the scans' fields or from the header, in SI."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats._aim_sheet import Sheet
from retrograde.aerosol.formats._values import (
    DENSITIES,
    FLOWS,
    PRESSURES,
    decimal_mark,
    in_unit,
    is_missing,
    kelvin,
    number,
)
from retrograde.aerosol.formats.errors import FormatError
from retrograde.aerosol.formats.units import concentration_factor
from retrograde.aerosol.states import PRESSURE_BOUNDS, TEMPERATURE_BOUNDS

Floats = NDArray[np.float64]
Convert = Callable[[float, str], float]

_LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
_NUMBER_THEN_TEXT = re.compile(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*\(?[#/A-Za-zµ°³^0-9]*\)?$")
_TRUE, _FALSE = {"true", "on", "yes", "1"}, {"false", "off", "no", "0"}


def header_text(sheet: Sheet, *names: str) -> str:
    """Text of the first of these labels in the header, empty if there is none."""
    for name in names:
        if name in sheet.header:
            return sheet.header[name][1]
    return ""


def header_flag(sheet: Sheet, *names: str) -> bool | None:
    """Truth of the first of these labels in the header, None if there is none or it is neither true nor false."""
    text = header_text(sheet, *names).lower()
    return True if text in _TRUE else False if text in _FALSE else None


def quantity(sheet: Sheet, names: tuple[str, ...], convert: Convert, unit: str) -> Floats | None:
    """A quantity of each scan, from a field or else from the header.

    Args:
        sheet: Export.
        names: Names in lower case; the first one found counts.
        convert: From a number and its unit to SI.
        unit: Unit where the label has none.

    Returns:
        Values of shape [scans], NaN where a cell is blank; None where no label has one of the names.

    Raises:
        FormatError: A cell is no number, or a unit is unknown.
    """
    field = sheet.find(*names)
    if field is not None:
        written = sheet.fields[field].unit or unit
        values = np.empty(len(sheet.scans))
        for index, scan in enumerate(sheet.scans):
            try:
                values[index] = convert(_number(sheet.text(scan, field)), written)
            except ValueError as error:
                raise sheet.error(f"{sheet.fields[field].name}: {error}", field, scan) from error
        return values
    for name in names:
        if name in sheet.header:
            label, text, line = sheet.header[name]
            try:
                value = convert(_number(text), label.unit or unit)
            except ValueError as error:
                raise FormatError(sheet.path, line, None, f"{name}: {error}") from error
            return np.full(len(sheet.scans), value)
    return None


class Quantities:
    """The quantities of one export by kind; what had to be assumed is added to `notes`."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.notes: list[str] = []

    def plain(self, *names: str, unit: str = "") -> Floats | None:
        """Numbers whose unit is as it is, shape [scans]."""
        return quantity(self.sheet, names, lambda value, _: value, unit)

    def flow(self, *names: str) -> Floats | None:
        """Flows [m^3 s^-1], shape [scans]."""
        return quantity(self.sheet, names, lambda value, unit: in_unit(value, unit, FLOWS, "flow"), "l/min")

    def length(self, *names: str) -> Floats | None:
        """Lengths [m], shape [scans]."""
        return quantity(self.sheet, names, lambda value, unit: in_unit(value, unit, _LENGTHS, "length"), "m")

    def concentration(self, *names: str) -> Floats | None:
        """Number concentrations, always per cm^3 in these files, as [m^-3], shape [scans]."""
        return quantity(self.sheet, names, lambda value, _: value * concentration_factor("cm-3"), "")

    def density(self) -> float | None:
        """Particle density where it is one number [kg m^-3]."""
        convert: Convert = lambda value, unit: in_unit(value, unit, DENSITIES, "density")  # noqa: E731
        return self.one("density", quantity(self.sheet, ("density", "particle density"), convert, "g/cm3"))

    def temperature(self) -> Floats | None:
        """Sample temperatures [K], shape [scans]."""
        values = quantity(self.sheet, ("sample temp", "sample temperature"), kelvin, "C")
        return self._within("temperature", values, TEMPERATURE_BOUNDS, "K")

    def pressure(self) -> Floats | None:
        """Sample pressures [Pa], shape [scans]."""
        convert: Convert = lambda value, unit: in_unit(value, unit, PRESSURES, "pressure")  # noqa: E731
        values = quantity(self.sheet, ("sample pressure",), convert, "kPa")
        return self._within("pressure", values, PRESSURE_BOUNDS, "Pa")

    def one(self, name: str, values: Floats | None) -> float | None:
        """The value that all scans share; None, with a note, where they differ or it is not positive."""
        if values is None or not np.any(np.isfinite(values)):
            return None
        known = values[np.isfinite(values)]
        if np.ptp(known) > 1e-6 * abs(known[0]) or known[0] <= 0.0:
            self.notes.append(f"The {name} is not one positive number ({known.min():g} to {known.max():g} in SI).")
            return None
        return float(known[0])

    def _within(self, name: str, values: Floats | None, bounds: tuple[float, float], unit: str) -> Floats | None:
        if values is None or np.all(np.isnan(values)):
            return None
        outside = (values < bounds[0]) | (values > bounds[1])
        if np.any(outside):
            extreme = values[np.argmax(outside)]
            self.notes.append(f"The {name} of {outside.sum()} scans, as {extreme:g} {unit}, is left out as impossible.")
        return np.where(outside, np.nan, values)


def _number(text: str) -> float:
    """A number, or NaN, of a cell that may repeat its unit, as in "0.071 cm"."""
    if is_missing(text):
        return float("nan")
    match = _NUMBER_THEN_TEXT.match(text)
    plain = match[1] if match else text
    return number(plain, decimal_mark([plain]))
