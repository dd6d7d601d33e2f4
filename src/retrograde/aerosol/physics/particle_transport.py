"""Transport properties of particles in given air, put together from their parameterisations."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, Vec4, wp
from retrograde.aerosol.constants import SI, Constants
from retrograde.aerosol.physics.davies1945 import slip_correction, slip_correction_wp
from retrograde.aerosol.physics.einstein1905 import diffusivity, diffusivity_wp
from retrograde.aerosol.physics.kinetic_theory import mean_free_path, mean_free_path_wp, thermal_speed, thermal_speed_wp
from retrograde.aerosol.physics.stokes1851 import settling_velocity, settling_velocity_wp
from retrograde.aerosol.physics.sutherland1893 import dynamic_viscosity, dynamic_viscosity_wp

_TWO = wp.constant(wp.float64(2.0))
_SIXTH_PI = wp.constant(wp.float64(np.pi / 6.0))


@dataclass(frozen=True)
class ParticleTransport:
    """How particles of given diameters move in given air; all of one shape.

    Attributes:
        diffusivity: Brownian diffusivity [m^2 s^-1].
        thermal_speed: Mean thermal speed [m s^-1].
        settling_velocity: Terminal settling velocity [m s^-1].
        slip_correction: Slip correction [1].
    """

    diffusivity: Any
    thermal_speed: Any
    settling_velocity: Any
    slip_correction: Any


def particle_transport(
    diameter: Any, temperature: Any, pressure: Any, density: Any, constants: Constants = SI
) -> ParticleTransport:
    """Transport properties of spheres in air.

    Args:
        diameter: Particle diameter [m].
        temperature: Temperature [K], broadcast against `diameter`.
        pressure: Pressure [Pa], broadcast likewise.
        density: Particle density [kg m^-3], broadcast likewise.
        constants: Physical constants.
    """
    viscosity = dynamic_viscosity(temperature, constants)
    knudsen = 2.0 * mean_free_path(temperature, pressure, viscosity, constants) / diameter
    slip = slip_correction(knudsen)
    mass = np.pi / 6.0 * density * diameter**3
    return ParticleTransport(
        diffusivity=diffusivity(diameter, temperature, viscosity, slip, constants),
        thermal_speed=thermal_speed(mass, temperature, constants),
        settling_velocity=settling_velocity(diameter, density, viscosity, slip, constants),
        slip_correction=slip,
    )


@wp.func
def particle_transport_wp(diameter: Float64, temperature: Float64, pressure: Float64, density: Float64) -> Vec4:
    """Device twin: diffusivity, thermal speed, settling velocity and slip correction, in this order."""
    viscosity = dynamic_viscosity_wp(temperature)
    knudsen = _TWO * mean_free_path_wp(temperature, pressure, viscosity) / diameter
    slip = slip_correction_wp(knudsen)
    mass = _SIXTH_PI * density * diameter * diameter * diameter
    return wp.vec4d(
        diffusivity_wp(diameter, temperature, viscosity, slip),
        thermal_speed_wp(mass, temperature),
        settling_velocity_wp(diameter, density, viscosity, slip),
        slip,
    )
