"""Activity of a species in an ideal mixture after Raoult (1887)."""

from typing import Any

from retrograde.aerosol._device import Float64, wp


def ideal_activity(amount: Any, total_amount: Any) -> Any:
    """Activity of a species [1]: its mole fraction, amount / total_amount.

    Args:
        amount: Amount of the species [mol].
        total_amount: Amount of all species [mol], positive, broadcast against it.

    Source: Raoult (1887), Comptes rendus 104, 1430.
    """
    return amount / total_amount


@wp.func
def ideal_activity_wp(amount: Float64, total_amount: Float64) -> Float64:
    """Device twin of `ideal_activity`."""
    return amount / total_amount
