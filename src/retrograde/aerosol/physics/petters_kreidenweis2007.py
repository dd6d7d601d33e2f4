"""Hygroscopicity by one parameter: kappa-Koehler theory after Petters and Kreidenweis (2007)."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp
from retrograde.aerosol._elementary import expm1_wp, log1p_wp

_ONE = wp.constant(wp.float64(1.0))
_HALF = wp.constant(wp.float64(0.5))
_THREE = wp.constant(wp.float64(3.0))
_THIRD = wp.constant(wp.float64(1.0 / 3.0))
_FOUR_THIRDS = wp.constant(wp.float64(4.0 / 3.0))
_LOWEST = wp.constant(wp.float64(np.log(1e-18)))
_HIGHEST = wp.constant(wp.float64(np.log(1e18)))
_HALVINGS = 70


def kappa_activity(water_volume: Any, solute_volume: Any, kappa: Any) -> Any:
    """Water activity of a solution [1]: 1 / (1 + kappa Vs / Vw), 0 without water.

    Args:
        water_volume: Volume of water Vw [m^3].
        solute_volume: Volume of dry substance Vs [m^3]; not both are zero.
        kappa: Hygroscopicity parameter of the dry substance [1].

    Source: Petters and Kreidenweis (2007), Atmospheric Chemistry and Physics 7, 1961,
    doi:10.5194/acp-7-1961-2007, equation 2.
    """
    return water_volume / (water_volume + kappa * solute_volume)


def koehler_saturation_ratio(diameter: Any, dry_diameter: Any, kappa: Any, kelvin_length: Any) -> Any:
    """Saturation ratio of water in equilibrium with a droplet [1].

    S = (D^3 - Dd^3) / (D^3 - Dd^3 (1 - kappa)) exp(A / D)

    Args:
        diameter: Droplet diameter D [m].
        dry_diameter: Diameter of the dry particle Dd [m], not above `diameter`.
        kappa: Hygroscopicity parameter [1].
        kelvin_length: A = 4 sigma M / (R T rho) of water [m].

    Source: Petters and Kreidenweis (2007), doi:10.5194/acp-7-1961-2007, equation 6.
    """
    water = diameter**3 - dry_diameter**3
    return kappa_activity(water, dry_diameter**3, kappa) * np.exp(kelvin_length / diameter)


def critical_supersaturation(dry_diameter: Any, kappa: Any, kelvin_length: Any) -> Any:
    """Supersaturation at which a particle becomes a cloud droplet [1]: the largest S - 1 of its Koehler curve.

    With u = (D / Dd)^3 - 1 and a = A / Dd the curve has its top where 3 kappa (1 + u)^(4/3) = a u (u + kappa), which
    has one root; it is found by bisection, not by the approximation for large droplets.

    Args:
        dry_diameter: Diameter of the dry particle Dd [m].
        kappa: Hygroscopicity parameter, not negative [1], broadcast against it.
        kelvin_length: A = 4 sigma M / (R T rho) of water [m], broadcast likewise.

    Source: Petters and Kreidenweis (2007), doi:10.5194/acp-7-1961-2007, equation 6.
    """
    a, k = np.broadcast_arrays(np.asarray(kelvin_length / dry_diameter, float), np.asarray(kappa, float))
    low, high = np.full(a.shape, np.log(1e-18)), np.full(a.shape, np.log(1e18))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        u = np.exp(middle)
        below = a * u * (u + k) < 3.0 * k * (1.0 + u) ** (4.0 / 3.0)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    u = np.exp(0.5 * (low + high))
    return np.expm1(a / (1.0 + u) ** (1.0 / 3.0) - np.log1p(k / u))


@wp.func
def kappa_activity_wp(water_volume: Float64, solute_volume: Float64, kappa: Float64) -> Float64:
    """Device twin of `kappa_activity`."""
    return water_volume / (water_volume + kappa * solute_volume)


@wp.func
def koehler_saturation_ratio_wp(
    diameter: Float64, dry_diameter: Float64, kappa: Float64, kelvin_length: Float64
) -> Float64:
    """Device twin of `koehler_saturation_ratio`."""
    dry = dry_diameter * dry_diameter * dry_diameter
    water = diameter * diameter * diameter - dry
    return kappa_activity_wp(water, dry, kappa) * wp.exp(kelvin_length / diameter)


@wp.func
def _top_wp(a: Float64, kappa: Float64) -> Float64:
    """The root u of the condition for the curve's top."""
    low = wp.float64(_LOWEST)
    high = wp.float64(_HIGHEST)
    for _ in range(_HALVINGS):
        middle = _HALF * (low + high)
        u = wp.exp(middle)
        if a * u * (u + kappa) < _THREE * kappa * wp.pow(_ONE + u, _FOUR_THIRDS):
            low = middle
        else:
            high = middle
    return wp.exp(_HALF * (low + high))


@wp.func
def critical_supersaturation_wp(dry_diameter: Float64, kappa: Float64, kelvin_length: Float64) -> Float64:
    """Device twin of `critical_supersaturation`."""
    a = kelvin_length / dry_diameter
    u = _top_wp(a, kappa)
    return expm1_wp(a / wp.pow(_ONE + u, _THIRD) - log1p_wp(kappa / u))


@wp.func_grad(critical_supersaturation_wp)
def adjoint_critical_supersaturation(dry_diameter: Float64, kappa: Float64, kelvin_length: Float64, cotangent: Float64):
    """At the top of the curve its derivative along it is zero: the droplet's size may be held."""
    a = kelvin_length / dry_diameter
    u = _top_wp(a, kappa)
    growth = wp.pow(_ONE + u, _THIRD)
    saturation = wp.exp(a / growth) * u / (u + kappa)
    by_a = saturation / growth * cotangent
    wp.adjoint[kelvin_length] += by_a / dry_diameter
    wp.adjoint[dry_diameter] += -by_a * a / dry_diameter
    wp.adjoint[kappa] += -saturation / (u + kappa) * cotangent
