"""Brownian diffusivity of particles after Einstein (1905)."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.constants import SI, Constants

_FACTOR = wp.constant(wp.float64(SI.boltzmann / (3.0 * np.pi)))


def diffusivity(
    diameter: Any, temperature: Any, viscosity: Any, slip_correction: Any, constants: Constants = SI
) -> Any:
    """Diffusivity of particles in air [m^2 s^-1].

    D = k T Cc / (3 pi mu Dp)

    Args:
        diameter: Particle diameter [m].
        temperature: Temperature [K].
        viscosity: Dynamic viscosity [Pa s].
        slip_correction: Slip correction [1].
        constants: Physical constants.

    Source: Einstein (1905), Annalen der Physik 322, 549, doi:10.1002/andp.19053220806, with the
    slip correction of Cunningham (1910), doi:10.1098/rspa.1910.0024.
    """
    return constants.boltzmann * temperature * slip_correction / (3.0 * np.pi * viscosity * diameter)


@wp.func
def diffusivity_wp(diameter: Float64, temperature: Float64, viscosity: Float64, slip_correction: Float64) -> Float64:
    """Device twin of `diffusivity`."""
    return _FACTOR * temperature * slip_correction / (viscosity * diameter)
