"""Physical constants of the aerosol half: value, unit and source, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_CODATA = "CODATA 2018, exact since the 2019 revision of the SI"
_ATMOSPHERE = "U.S. Standard Atmosphere, 1976"


def _about(unit: str, source: str) -> dict[str, str]:
    return {"unit": unit, "source": source}


@dataclass(frozen=True)
class Constants:
    """Constants that formulae take, in SI.

    Every host formula takes a `Constants`, so that a formula may be evaluated with quantities that
    carry units. Each field's metadata holds its `unit` and its `source`.

    Attributes:
        boltzmann: Boltzmann constant [J K^-1].
        elementary_charge: Elementary charge [C].
        gas: Molar gas constant [J mol^-1 K^-1].
        gravity: Standard acceleration of free fall [m s^-2].
        molar_mass_air: Molar mass of dry air [kg mol^-1].
        viscosity_reference: Dynamic viscosity of air at `viscosity_temperature` [Pa s].
        viscosity_temperature: Reference temperature of `viscosity_reference` [K].
        sutherland: Sutherland's constant of air [K].
    """

    boltzmann: Any = field(default=1.380649e-23, metadata=_about("J/K", _CODATA))
    elementary_charge: Any = field(default=1.602176634e-19, metadata=_about("C", _CODATA))
    gas: Any = field(default=8.31446261815324, metadata=_about("J/mol/K", _CODATA))
    gravity: Any = field(default=9.80665, metadata=_about("m/s^2", "3rd CGPM, 1901"))
    molar_mass_air: Any = field(default=28.9644e-3, metadata=_about("kg/mol", _ATMOSPHERE))
    viscosity_reference: Any = field(default=1.716e-5, metadata=_about("Pa*s", f"{_ATMOSPHERE}, rounded"))
    viscosity_temperature: Any = field(default=273.15, metadata=_about("K", _ATMOSPHERE))
    sutherland: Any = field(default=110.4, metadata=_about("K", _ATMOSPHERE))


SI = Constants()
"""The constants as plain numbers."""

DEFAULT_DENSITY = 1000.0
"""Density that particles are given where none is stated: that of water, rounded [kg m^-3]."""
