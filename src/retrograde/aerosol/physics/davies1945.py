"""Slip correction after Cunningham, with the coefficients of Davies (1945)."""

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, wp

_ONE = wp.constant(wp.float64(1.0))
_A = wp.constant(wp.float64(1.257))
_B = wp.constant(wp.float64(0.4))
_C = wp.constant(wp.float64(-1.1))


def slip_correction(knudsen: Any) -> Any:
    """Slip correction [1] at a Knudsen number, mean free path over particle radius [1].

    Cc = 1 + Kn (1.257 + 0.4 exp(-1.1 / Kn))

    Source: Davies (1945), Proceedings of the Physical Society 57, 259,
    doi:10.1088/0959-5309/57/4/301.
    """
    return 1.0 + knudsen * (1.257 + 0.4 * np.exp(-1.1 / knudsen))


@wp.func
def slip_correction_wp(knudsen: Float64) -> Float64:
    """Device twin of `slip_correction`."""
    return _ONE + knudsen * (_A + _B * wp.exp(_C / knudsen))
