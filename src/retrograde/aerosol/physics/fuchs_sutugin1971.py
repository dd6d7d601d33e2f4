"""Uptake of vapour by particles from free molecules to the continuum, after Fuchs and Sutugin (1971)."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.constants import SI, Constants

_ONE = wp.constant(wp.float64(1.0))
_THREE_QUARTERS = wp.constant(wp.float64(0.75))
_SHAPE = wp.constant(wp.float64(0.283))
_TWO = wp.constant(wp.float64(2.0))
_THREE = wp.constant(wp.float64(3.0))
_TWO_PI = wp.constant(wp.float64(2.0 * np.pi))
_SPEED = wp.constant(wp.float64(8.0 * SI.gas / np.pi))


def transition_correction(knudsen: Any, accommodation: Any) -> Any:
    """Uptake relative to that in the continuum [1].

    f = 0.75 a (1 + Kn) / (Kn^2 + Kn + 0.283 Kn a + 0.75 a)

    Args:
        knudsen: Mean free path of the vapour over the particle's radius Kn [1].
        accommodation: Mass accommodation coefficient a [1].

    Source: Fuchs and Sutugin (1971), High-dispersed aerosols, in Topics in Current Aerosol Research 2, 1; as
    written by Seinfeld and Pandis (2016), Atmospheric Chemistry and Physics, 3rd ed., equation 12.43.
    """
    numerator = 0.75 * accommodation * (1.0 + knudsen)
    return numerator / (knudsen * knudsen + knudsen + 0.283 * knudsen * accommodation + 0.75 * accommodation)


def vapour_mean_free_path(diffusivity: Any, molar_mass: Any, temperature: Any, constants: Constants = SI) -> Any:
    """Mean free path of a vapour in air [m], 3 D / c with the mean speed c = sqrt(8 R T / (pi M)).

    Args:
        diffusivity: Diffusivity of the vapour D [m^2 s^-1].
        molar_mass: Molar mass M [kg mol^-1].
        temperature: Temperature T [K].
        constants: Physical constants.

    Source: Fuchs and Sutugin (1971); Seinfeld and Pandis (2016), table 12.1.
    """
    speed = (8.0 * constants.gas * temperature / (np.pi * molar_mass)) ** 0.5
    return 3.0 * diffusivity / speed


def uptake_rate(
    diameter: Any, diffusivity: Any, molar_mass: Any, accommodation: Any, temperature: Any, constants: Constants = SI
) -> Any:
    """Volume of air that a particle clears of vapour in a time [m^3 s^-1]: 2 pi Dp D f.

    Times the excess of the vapour's concentration over that at the surface [kg m^-3] it is dm / dt.

    Args:
        diameter: Particle diameter Dp [m].
        diffusivity: Diffusivity of the vapour D [m^2 s^-1].
        molar_mass: Molar mass of the vapour [kg mol^-1].
        accommodation: Mass accommodation coefficient [1].
        temperature: Temperature [K].
        constants: Physical constants.

    Source: Seinfeld and Pandis (2016), equation 13.3.
    """
    knudsen = 2.0 * vapour_mean_free_path(diffusivity, molar_mass, temperature, constants) / diameter
    return 2.0 * np.pi * diameter * diffusivity * transition_correction(knudsen, accommodation)


@wp.func
def transition_correction_wp(knudsen: Float64, accommodation: Float64) -> Float64:
    """Device twin of `transition_correction`."""
    numerator = _THREE_QUARTERS * accommodation * (_ONE + knudsen)
    return numerator / (
        knudsen * knudsen + knudsen + _SHAPE * knudsen * accommodation + _THREE_QUARTERS * accommodation
    )


@wp.func
def vapour_mean_free_path_wp(diffusivity: Float64, molar_mass: Float64, temperature: Float64) -> Float64:
    """Device twin of `vapour_mean_free_path`."""
    return _THREE * diffusivity / wp.sqrt(_SPEED * temperature / molar_mass)


@wp.func
def uptake_rate_wp(
    diameter: Float64, diffusivity: Float64, molar_mass: Float64, accommodation: Float64, temperature: Float64
) -> Float64:
    """Device twin of `uptake_rate`."""
    knudsen = _TWO * vapour_mean_free_path_wp(diffusivity, molar_mass, temperature) / diameter
    return _TWO_PI * diameter * diffusivity * transition_correction_wp(knudsen, accommodation)
