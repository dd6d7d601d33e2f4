"""Mean of an exponential relaxation over a step."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp

_ONE = wp.constant(wp.float64(1.0))
_HALF = wp.constant(wp.float64(0.5))
_SIXTH = wp.constant(wp.float64(1.0 / 6.0))
_TWENTY_FOURTH = wp.constant(wp.float64(1.0 / 24.0))
_SMALL = wp.constant(wp.float64(1e-3))


def mean_decay(exponent: Any) -> Any:
    """Mean of exp(-exponent u) over u from 0 to 1 [1], free of cancellation; 1 at 0.

    Args:
        exponent: Rate times duration [1], not negative.
    """
    safe = np.where(np.asarray(exponent) > 0.0, exponent, 1.0)
    return np.where(np.asarray(exponent) > 0.0, -np.expm1(-safe) / safe, 1.0)


@wp.func
def mean_decay_wp(exponent: Float64) -> Float64:
    """Device twin of `mean_decay`."""
    if exponent < _SMALL:
        return _ONE - exponent * (_HALF - exponent * (_SIXTH - exponent * _TWENTY_FOURTH))
    return (_ONE - wp.exp(-exponent)) / exponent
