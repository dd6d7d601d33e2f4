"""Coagulation kernels with known solutions: constant, additive and product."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp


def constant_kernel(volume_a: Any, volume_b: Any, rate: Any) -> Any:
    """`rate` [m^3 s^-1] for every pair of volumes [m^3], of their broadcast shape.

    Source: Smoluchowski (1916), Physikalische Zeitschrift 17, 557.
    """
    return rate * np.ones(np.broadcast_shapes(np.shape(volume_a), np.shape(volume_b)))


def additive_kernel(volume_a: Any, volume_b: Any, slope: Any) -> Any:
    """The slope times (v + w) [m^3 s^-1] for volumes v, w [m^3] and a slope [s^-1].

    Source: Golovin (1963), Bulletin of the Academy of Sciences of the USSR, Geophysics 5, 482.
    """
    return slope * (volume_a + volume_b)


def product_kernel(volume_a: Any, volume_b: Any, coefficient: Any) -> Any:
    """The coefficient times v w [m^3 s^-1] for volumes v, w [m^3] and a coefficient [m^-3 s^-1].

    Source: McLeod (1962), Quarterly Journal of Mathematics 13, 119, doi:10.1093/qmath/13.1.119.
    """
    return coefficient * volume_a * volume_b


@wp.func
def constant_kernel_wp(volume_a: Float64, volume_b: Float64, rate: Float64) -> Float64:
    """Device twin of `constant_kernel`."""
    return rate


@wp.func
def additive_kernel_wp(volume_a: Float64, volume_b: Float64, slope: Float64) -> Float64:
    """Device twin of `additive_kernel`."""
    return slope * (volume_a + volume_b)


@wp.func
def product_kernel_wp(volume_a: Float64, volume_b: Float64, coefficient: Float64) -> Float64:
    """Device twin of `product_kernel`."""
    return coefficient * volume_a * volume_b
