"""What the numbers and labels of a plain table are: as the table states it, else as the user does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats._values import DENSITIES, in_unit, label, number
from retrograde.aerosol.formats.stated import Stated
from retrograde.aerosol.formats.units import SpectrumKind, concentration_factor, length_factor
from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]

COMMENT = ("#", "%", "!")
"""What lines before the labels begin with."""

_SIZE = re.compile(
    r"(?:(?:dn/dlog(?:10)?dp?|dn/dlnd|dp|d|diameter|size)[ _:=]*)?"
    r"(?P<value>(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[-+]?\d+)?)\s*[\[(]?(?P<unit>nm|um|µm|μm|m)?[\])]?$",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"[#%!]+\s*([A-Za-z][A-Za-z _]*?)\s*[:=]\s*(.+?)\s*$")
_LARGEST_IN_METRES = 1e-3
_KINDS = {
    **{kind.value.lower(): kind for kind in SpectrumKind},
    **{kind.name.lower(): kind for kind in SpectrumKind},
    "dn/dlogdp": SpectrumKind.PER_LOG10_DIAMETER,
    "dn/dlog10dp": SpectrumKind.PER_LOG10_DIAMETER,
    "dn/dlndp": SpectrumKind.PER_LN_DIAMETER,
    "dn": SpectrumKind.PER_BIN,
}
_CONVENTION = "Diameters being in metres, numbers are taken for dN/dlog10 D in cm^-3, as tables of that kind have them."


@dataclass(frozen=True)
class Sizes:
    """Labels that are diameters.

    Attributes:
        columns: Indices of the labels, in order.
        values: Diameters as written, shape [bins].
        unit: Unit that the labels carry, None where they carry none.
    """

    columns: tuple[int, ...]
    values: Floats
    unit: str | None


@dataclass(frozen=True)
class Meaning:
    """What the numbers and sizes of a table are.

    Attributes:
        kind: What the numbers count.
        concentration: m^-3 in the table's unit of number.
        length: Metres in the table's unit of diameter.
        diameter_kind: Kind of the diameters.
        density: Particle density [kg m^-3], or None.
    """

    kind: SpectrumKind
    concentration: float
    length: float
    diameter_kind: str
    density: float | None

    def number(self, values: Floats, grid: SizeGrid) -> Floats:
        """Number in each bin [m^-3]."""
        return values * self.concentration * self.kind.widths(grid)


def sizes_of(labels: Sequence[Any]) -> Sizes:
    """The labels that are diameters; the first label, of the time, is not one.

    Raises:
        ValueError: There are fewer than two, or they differ in unit.
    """
    found = [(column, match) for column, text in enumerate(labels) if column and (match := _SIZE.match(str(text)))]
    if len(found) < 2:
        raise ValueError("no diameters among the labels of columns")
    units = {match["unit"] for _, match in found}
    if len(units) > 1:
        raise ValueError("some diameters have a unit and some another one or none")
    values = np.array([number(match["value"].replace(",", ".")) for _, match in found])
    return Sizes(tuple(column for column, _ in found), values, units.pop())


def statements_of(lines: Sequence[str]) -> dict[str, str]:
    """What comment lines as "# diameter unit: nm" state, by lower-case name."""
    found = (_STATEMENT.match(line.strip()) for line in lines)
    return {" ".join(m[1].lower().replace("_", " ").split()): m[2] for m in found if m is not None}


def meaning_of(statements: Mapping[str, str], sizes: Sizes, stated: Stated, notes: list[str]) -> Meaning:
    """What the table is.

    Raises:
        ValueError: Something is not stated, or stated in words that are not known.
    """
    unit = sizes.unit or statements.get("diameter unit") or stated.diameter_unit
    kind = _kind(statements.get("kind")) or stated.kind
    concentration = statements.get("concentration unit") or stated.concentration_unit
    if unit is None and np.all(sizes.values < _LARGEST_IN_METRES):
        # No particle is smaller than this in any other unit.
        unit = "m"
        if kind is None and concentration is None:
            kind, concentration = SpectrumKind.PER_LOG10_DIAMETER, "cm-3"
            notes.append(_CONVENTION)
    missing = {"diameter_unit": unit, "kind": kind, "concentration_unit": concentration}
    if unit is None or kind is None or concentration is None:
        names = ", ".join(name for name, value in missing.items() if value is None)
        raise ValueError(f"{names}: not stated in the table, and none is guessed; give it to read(...)")
    return Meaning(
        kind=kind,
        concentration=concentration_factor(concentration),
        length=length_factor(unit),
        diameter_kind=statements.get("diameter kind", "unknown"),
        density=_density(statements.get("density")),
    )


def _kind(text: str | None) -> SpectrumKind | None:
    if text is None:
        return None
    kind = _KINDS.get(" ".join(text.lower().replace("dlog10 d", "dlog10d").split()))
    if kind is None:
        raise ValueError(f"kind {text!r}: expected one of {', '.join(kind.value for kind in SpectrumKind)}")
    return kind


def _density(text: str | None) -> float | None:
    if text is None:
        return None
    value, _, unit = text.partition(" ")
    return in_unit(number(value), label(f"x ({unit.strip(' []()')})").unit or "kg/m3", DENSITIES, "density")
