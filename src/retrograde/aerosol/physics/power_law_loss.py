"""Loss rate as a constant and a power of the diameter."""

from typing import Any

from retrograde.aerosol._device import Float64, wp


def power_law_loss_rate(diameter: Any, rate: Any, slope: Any, exponent: Any, reference_diameter: Any) -> Any:
    """First-order loss rate [s^-1]: rate + slope (diameter / reference_diameter)^exponent.

    An empirical form for chambers whose walls and mixing are not known well enough for more.

    Args:
        diameter: Particle diameter [m].
        rate: Part that does not depend on size [s^-1].
        slope: Part that does, at the reference diameter [s^-1].
        exponent: Power [1].
        reference_diameter: Reference diameter [m].
    """
    return rate + slope * (diameter / reference_diameter) ** exponent


@wp.func
def power_law_loss_rate_wp(
    diameter: Float64, rate: Float64, slope: Float64, exponent: Float64, reference_diameter: Float64
) -> Float64:
    """Device twin of `power_law_loss_rate`."""
    return rate + slope * wp.pow(diameter / reference_diameter, exponent)
