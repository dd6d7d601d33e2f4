"""Elementary device functions without cancellation."""

import numpy as np

from retrograde.aerosol._device import Float64, wp

log1p = np.log1p
"""Host twin of `log1p_wp`."""

expm1 = np.expm1
"""Host twin of `expm1_wp`."""

_ONE = wp.constant(wp.float64(1.0))


@wp.func
def log1p_wp(x: Float64) -> Float64:
    """ln(1 + x) without the rounding of 1 + x, after Kahan."""
    sum = _ONE + x
    if sum == _ONE:
        return x
    return x * wp.log(sum) / (sum - _ONE)


@wp.func
def expm1_wp(x: Float64) -> Float64:
    """exp(x) - 1 without cancellation, after Kahan."""
    power = wp.exp(x)
    if power == _ONE:
        return x
    return x * (power - _ONE) / wp.log(power)
