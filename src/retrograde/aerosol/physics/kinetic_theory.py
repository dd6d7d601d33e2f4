"""Mean free path of air and thermal speed of particles, from the kinetic theory of gases."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.constants import SI, Constants

_AIR = wp.constant(wp.float64(8.0 * SI.molar_mass_air / (np.pi * SI.gas)))
_SPEED = wp.constant(wp.float64(8.0 * SI.boltzmann / np.pi))
_TWO = wp.constant(wp.float64(2.0))


def mean_free_path(temperature: Any, pressure: Any, viscosity: Any, constants: Constants = SI) -> Any:
    """Mean free path of air [m].

    lambda = 2 mu / (p sqrt(8 M / (pi R T)))

    Args:
        temperature: Temperature [K].
        pressure: Pressure [Pa].
        viscosity: Dynamic viscosity [Pa s].
        constants: Physical constants.

    Source: Seinfeld and Pandis (2016), Atmospheric Chemistry and Physics, 3rd ed., equation 9.6.
    """
    root = (8.0 * constants.molar_mass_air / (np.pi * constants.gas * temperature)) ** 0.5
    return 2.0 * viscosity / (pressure * root)


def thermal_speed(mass: Any, temperature: Any, constants: Constants = SI) -> Any:
    """Mean thermal speed [m s^-1] of particles of `mass` [kg] at `temperature` [K].

    c = sqrt(8 k T / (pi m))

    Source: Seinfeld and Pandis (2016), Atmospheric Chemistry and Physics, 3rd ed., equation 9.87.
    """
    return (8.0 * constants.boltzmann * temperature / (np.pi * mass)) ** 0.5


@wp.func
def mean_free_path_wp(temperature: Float64, pressure: Float64, viscosity: Float64) -> Float64:
    """Device twin of `mean_free_path`."""
    return _TWO * viscosity / (pressure * wp.sqrt(_AIR / temperature))


@wp.func
def thermal_speed_wp(mass: Float64, temperature: Float64) -> Float64:
    """Device twin of `thermal_speed`."""
    return wp.sqrt(_SPEED * temperature / mass)
