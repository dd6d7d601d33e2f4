"""Vapour pressure over a curved surface after Thomson (Lord Kelvin, 1871)."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.constants import SI, Constants

_FACTOR = wp.constant(wp.float64(4.0 / SI.gas))


def kelvin_ratio(
    diameter: Any, surface_tension: Any, molar_mass: Any, density: Any, temperature: Any, constants: Constants = SI
) -> Any:
    """Vapour pressure over a droplet relative to that over a flat surface [1].

    exp(4 sigma M / (R T rho D))

    Args:
        diameter: Droplet diameter D [m].
        surface_tension: Surface tension sigma [N m^-1].
        molar_mass: Molar mass M [kg mol^-1].
        density: Density of the liquid rho [kg m^-3].
        temperature: Temperature T [K].
        constants: Physical constants.

    Source: Thomson (1871), Philosophical Magazine 42, 448; in this form Seinfeld and Pandis (2016),
    Atmospheric Chemistry and Physics, 3rd ed., equation 10.86.
    """
    return np.exp(4.0 * surface_tension * molar_mass / (constants.gas * temperature * density * diameter))


@wp.func
def kelvin_ratio_wp(
    diameter: Float64, surface_tension: Float64, molar_mass: Float64, density: Float64, temperature: Float64
) -> Float64:
    """Device twin of `kelvin_ratio`."""
    return wp.exp(_FACTOR * surface_tension * molar_mass / (temperature * density * diameter))
