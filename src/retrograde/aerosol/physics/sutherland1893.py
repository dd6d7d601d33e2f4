"""Viscosity of air after Sutherland (1893)."""

from typing import Any

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.constants import SI, Constants

_MU = wp.constant(wp.float64(SI.viscosity_reference))
_T0 = wp.constant(wp.float64(SI.viscosity_temperature))
_S = wp.constant(wp.float64(SI.sutherland))


def dynamic_viscosity(temperature: Any, constants: Constants = SI) -> Any:
    """Dynamic viscosity of air [Pa s] at `temperature` [K], of the same shape.

    mu = mu0 (T / T0)^(3/2) (T0 + S) / (T + S)

    Source: Sutherland (1893), Philosophical Magazine 36, 507, doi:10.1080/14786449308620508.
    """
    ratio = temperature / constants.viscosity_temperature
    numerator = constants.viscosity_temperature + constants.sutherland
    return constants.viscosity_reference * ratio**1.5 * numerator / (temperature + constants.sutherland)


@wp.func
def dynamic_viscosity_wp(temperature: Float64) -> Float64:
    """Device twin of `dynamic_viscosity`."""
    ratio = temperature / _T0
    return _MU * ratio * wp.sqrt(ratio) * (_T0 + _S) / (temperature + _S)
