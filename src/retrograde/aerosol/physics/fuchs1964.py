"""Brownian coagulation kernel after Fuchs (1964), from free molecules to the continuum."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.constants import SI, Constants
from retrograde.aerosol.physics.particle_transport import particle_transport, particle_transport_wp

SQRT2 = float(np.sqrt(2.0))
"""Fuchs' factor on the distance at which the two regimes are joined."""

_ONE = wp.constant(wp.float64(1.0))
_TWO = wp.constant(wp.float64(2.0))
_THREE = wp.constant(wp.float64(3.0))
_EIGHT = wp.constant(wp.float64(8.0))
_PI = wp.constant(wp.float64(np.pi))


def joining_distance(diameter: Any, mean_path: Any) -> Any:
    """Mean distance from a sphere's surface that particles reach after one mean path [m].

    g = ((D + l)^3 - (D^2 + l^2)^(3/2)) / (3 D l) - D, which with x = l / D and s = sqrt(1 + x^2)
    is l (1 - (1 / (x + s) + 1 / (s + 1)) / 3), free of cancellation.

    Args:
        diameter: Particle diameter D [m].
        mean_path: Mean path l of the particle [m].
    """
    x = mean_path / diameter
    s = (1.0 + x * x) ** 0.5
    return mean_path * (1.0 - (1.0 / (x + s) + 1.0 / (s + 1.0)) / 3.0)


def fuchs_kernel(
    diameter_a: Any,
    diameter_b: Any,
    temperature: Any,
    pressure: Any,
    density: Any,
    joining_factor: float = SQRT2,
    constants: Constants = SI,
) -> Any:
    """Rate constant of Brownian coagulation of spheres in air [m^3 s^-1].

    K = 2 pi (D1 + D2)(d1 + d2) / ((d1 + d2) / (d1 + d2 + 2 g) + 8 (D1 + D2) / (c (d1 + d2)))
    with diffusivities D, diameters d, g = sqrt(g1^2 + g2^2), c = sqrt(c1^2 + c2^2), mean paths
    l = 8 D / (pi c), and every g_i the `joining_distance` times `joining_factor`.

    Args:
        diameter_a: Diameter of one particle [m].
        diameter_b: Diameter of the other [m], broadcast against it like all that follow.
        temperature: Temperature [K].
        pressure: Pressure [Pa].
        density: Density of both [kg m^-3].
        joining_factor: sqrt(2) in Fuchs' form, the default; 1 in the form without it.
        constants: Physical constants.

    Source: Fuchs (1964), The Mechanics of Aerosols, Pergamon, section 49; as printed by Seinfeld and
    Pandis (2016), Atmospheric Chemistry and Physics, 3rd ed., table 13.1, with the parenthesis that
    makes g vanish with l.
    """
    a = particle_transport(diameter_a, temperature, pressure, density, constants)
    b = particle_transport(diameter_b, temperature, pressure, density, constants)
    distance_a = joining_distance(diameter_a, 8.0 * a.diffusivity / (np.pi * a.thermal_speed))
    distance_b = joining_distance(diameter_b, 8.0 * b.diffusivity / (np.pi * b.thermal_speed))
    distance = joining_factor * (distance_a**2 + distance_b**2) ** 0.5
    speed = (a.thermal_speed**2 + b.thermal_speed**2) ** 0.5
    reach = diameter_a + diameter_b
    spread = a.diffusivity + b.diffusivity
    return 2.0 * np.pi * spread * reach / (reach / (reach + 2.0 * distance) + 8.0 * spread / (speed * reach))


@wp.func
def joining_distance_wp(diameter: Float64, mean_path: Float64) -> Float64:
    """Device twin of `joining_distance`."""
    x = mean_path / diameter
    s = wp.sqrt(_ONE + x * x)
    return mean_path * (_ONE - (_ONE / (x + s) + _ONE / (s + _ONE)) / _THREE)


@wp.func
def fuchs_kernel_wp(
    diameter_a: Float64,
    diameter_b: Float64,
    temperature: Float64,
    pressure: Float64,
    density: Float64,
    joining_factor: Float64,
) -> Float64:
    """Device twin of `fuchs_kernel`."""
    a = particle_transport_wp(diameter_a, temperature, pressure, density)
    b = particle_transport_wp(diameter_b, temperature, pressure, density)
    distance_a = joining_distance_wp(diameter_a, _EIGHT * a[0] / (_PI * a[1]))
    distance_b = joining_distance_wp(diameter_b, _EIGHT * b[0] / (_PI * b[1]))
    distance = joining_factor * wp.sqrt(distance_a * distance_a + distance_b * distance_b)
    speed = wp.sqrt(a[1] * a[1] + b[1] * b[1])
    reach = diameter_a + diameter_b
    spread = a[0] + b[0]
    return _TWO * _PI * spread * reach / (reach / (reach + _TWO * distance) + _EIGHT * spread / (speed * reach))
