"""Settling velocity of particles after Stokes (1851)."""

from typing import Any

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.constants import SI, Constants

_FACTOR = wp.constant(wp.float64(SI.gravity / 18.0))


def settling_velocity(
    diameter: Any, density: Any, viscosity: Any, slip_correction: Any, constants: Constants = SI
) -> Any:
    """Terminal settling velocity of particles in air [m s^-1], the density of air neglected.

    v = rho Dp^2 g Cc / (18 mu)

    Args:
        diameter: Particle diameter [m].
        density: Particle density [kg m^-3].
        viscosity: Dynamic viscosity [Pa s].
        slip_correction: Slip correction [1].
        constants: Physical constants.

    Source: Stokes (1851), Transactions of the Cambridge Philosophical Society 9, 8; in this form
    Seinfeld and Pandis (2016), Atmospheric Chemistry and Physics, 3rd ed., equation 9.42.
    """
    return density * diameter**2 * constants.gravity * slip_correction / (18.0 * viscosity)


@wp.func
def settling_velocity_wp(diameter: Float64, density: Float64, viscosity: Float64, slip_correction: Float64) -> Float64:
    """Device twin of `settling_velocity`."""
    return _FACTOR * density * diameter * diameter * slip_correction / viscosity
