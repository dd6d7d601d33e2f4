"""Deposition to the walls of a stirred vessel by eddies, diffusion and settling: Crump and Seinfeld (1981)."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol.physics.debye import debye1, debye1_wp

_ONE = wp.constant(wp.float64(1.0))
_TWO = wp.constant(wp.float64(2.0))
_THREE = wp.constant(wp.float64(3.0))
_FOUR = wp.constant(wp.float64(4.0))
_SIX = wp.constant(wp.float64(6.0))
_PI = wp.constant(wp.float64(np.pi))
_SERIES_END = wp.constant(wp.float64(0.01))
_OVERFLOW = wp.constant(wp.float64(20.0))
_C3 = wp.constant(wp.float64(1.0 / 45.0))


def sphere_loss_rate(diffusivity: Any, settling_velocity: Any, eddy_coefficient: Any, radius: Any) -> Any:
    """First-order loss rate to the wall of a sphere [s^-1].

    beta = 6 sqrt(ke D) / (pi R) D1(pi v / (2 sqrt(ke D))) + 3 v / (4 R), D1 the first Debye function

    Args:
        diffusivity: Brownian diffusivity D of the particles [m^2 s^-1].
        settling_velocity: Terminal settling velocity v [m s^-1].
        eddy_coefficient: Coefficient ke of the eddy diffusivity ke x^2 at a distance x from the wall [s^-1].
        radius: Radius R of the vessel [m].

    Source: Crump and Seinfeld (1981), Journal of Aerosol Science 12, 405,
    doi:10.1016/0021-8502(81)90036-7.
    """
    eddy = (eddy_coefficient * diffusivity) ** 0.5
    argument = np.pi * settling_velocity / (2.0 * eddy)
    return 6.0 * eddy / (np.pi * radius) * debye1(argument) + 3.0 * settling_velocity / (4.0 * radius)


def box_loss_rate(
    diffusivity: Any, settling_velocity: Any, eddy_coefficient: Any, length: Any, width: Any, height: Any
) -> Any:
    """First-order loss rate to the walls of a rectangular box [s^-1].

    beta = (4 H (L + W) sqrt(ke D) / pi + v L W coth(pi v / (4 sqrt(ke D)))) / (L W H)

    Args:
        diffusivity: Brownian diffusivity D of the particles [m^2 s^-1].
        settling_velocity: Terminal settling velocity v [m s^-1].
        eddy_coefficient: Coefficient ke of the eddy diffusivity ke x^2 at a distance x from a wall [s^-1].
        length: Horizontal side L [m].
        width: Horizontal side W [m].
        height: Height H [m].

    Source: Crump and Seinfeld (1981), Journal of Aerosol Science 12, 405,
    doi:10.1016/0021-8502(81)90036-7; as written by McMurry and Rader (1985), Aerosol Science and
    Technology 4, 249, doi:10.1080/02786828508959054.
    """
    eddy = (eddy_coefficient * diffusivity) ** 0.5
    argument = np.pi * settling_velocity / (4.0 * eddy)
    walls = 4.0 * height * (length + width) * eddy / np.pi
    floor_and_ceiling = 4.0 * eddy / np.pi * _x_coth(argument) * length * width
    return (walls + floor_and_ceiling) / (length * width * height)


def _x_coth(x: Any) -> Any:
    """X coth(x), 1 at zero."""
    safe = np.where(x > 1e-8, x, 1.0)
    return np.where(x > 1e-8, safe / np.tanh(safe), 1.0)


@wp.func
def _x_coth_wp(x: Float64) -> Float64:
    if x < _SERIES_END:
        square = x * x
        return _ONE + square / _THREE - square * square * _C3
    if x > _OVERFLOW:
        return x
    growth = wp.exp(_TWO * x)
    return x * (growth + _ONE) / (growth - _ONE)


@wp.func
def sphere_loss_rate_wp(
    diffusivity: Float64, settling_velocity: Float64, eddy_coefficient: Float64, radius: Float64
) -> Float64:
    """Device twin of `sphere_loss_rate`."""
    eddy = wp.sqrt(eddy_coefficient * diffusivity)
    share = debye1_wp(_PI * settling_velocity / (_TWO * eddy))
    return _SIX * eddy / (_PI * radius) * share + _THREE * settling_velocity / (_FOUR * radius)


@wp.func
def box_loss_rate_wp(
    diffusivity: Float64,
    settling_velocity: Float64,
    eddy_coefficient: Float64,
    length: Float64,
    width: Float64,
    height: Float64,
) -> Float64:
    """Device twin of `box_loss_rate`."""
    eddy = wp.sqrt(eddy_coefficient * diffusivity)
    walls = _FOUR * height * (length + width) * eddy / _PI
    level = _FOUR * eddy / _PI * _x_coth_wp(_PI * settling_velocity / (_FOUR * eddy)) * length * width
    return (walls + level) / (length * width * height)
