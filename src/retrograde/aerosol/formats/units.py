"""Units that files and instruments use, and their factors to SI."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]

_LENGTHS = {"m": 1.0, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "μm": 1e-6, "micrometer": 1e-6, "nm": 1e-9, "nanometer": 1e-9}
_PER_VOLUME = ("{}-3", "{}^-3", "{}**-3", "1/{}3", "1/{}^3", "#/{}3", "#/{}^3")
_CONCENTRATIONS = {form.format(unit): si for unit, si in (("m", 1.0), ("cm", 1e6)) for form in _PER_VOLUME}


class SpectrumKind(Enum):
    """What a column of numbers by size counts."""

    PER_BIN = "number in each bin"
    PER_LN_DIAMETER = "dN/dlnD"
    PER_LOG10_DIAMETER = "dN/dlog10D"

    def widths(self, grid: SizeGrid) -> Floats:
        """What to multiply by to get the number in each bin [1], shape [bins]."""
        if self is SpectrumKind.PER_BIN:
            return np.ones(grid.bins)
        return grid.ln_widths if self is SpectrumKind.PER_LN_DIAMETER else grid.log10_widths


def length_factor(unit: str) -> float:
    """Metres in one `unit` of length; a ValueError naming the known units if it is not known."""
    return _factor(unit, _LENGTHS, "length")


def concentration_factor(unit: str) -> float:
    """m^-3 in one `unit` of number concentration; a ValueError naming the known units if it is not known."""
    return _factor(unit, _CONCENTRATIONS, "number concentration")


def _factor(unit: str, known: dict[str, float], quantity: str) -> float:
    factor = known.get(unit.strip().replace(" ", ""))
    if factor is None:
        raise ValueError(f"{unit!r} is no known unit of {quantity}; known are {', '.join(known)}")
    return factor
