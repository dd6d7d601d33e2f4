"""What a user states about a file that leaves it open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrograde.aerosol.formats.units import SpectrumKind


@dataclass(frozen=True)
class Stated:
    """What the user states about a file; None leaves it to the file.

    Attributes:
        kind: What the numbers count.
        concentration_unit: Unit of the numbers, as "cm-3".
        diameter_unit: Unit of the diameters, as "nm".
        variable: Variable of a NetCDF file that holds the numbers.
        date_order: Whether dates as 06/12/17 have the month or the day first.
    """

    kind: SpectrumKind | None = None
    concentration_unit: str | None = None
    diameter_unit: str | None = None
    variable: str | None = None
    date_order: Literal["month first", "day first"] | None = None
