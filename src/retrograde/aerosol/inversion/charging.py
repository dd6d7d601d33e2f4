"""Multiply charged particles in a mobility spectrometer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.physics import dynamic_viscosity, mean_free_path, slip_correction

Floats = NDArray[np.float64]

_NEGATIVE = {
    1: (-2.3197, 0.6175, 0.6201, -0.1105, -0.1260, 0.0297),
    2: (-26.3328, 35.9044, -21.4608, 7.0867, -1.3088, 0.1051),
}
_SIZES = {1: (1e-9, 1e-6), 2: (20e-9, 1e-6)}


def charged_fraction(diameter: Floats, charges: int) -> Floats:
    """Share of particles that carry so many negative charges after a bipolar neutraliser [1].

    Args:
        diameter: Particle diameter [m].
        charges: 1 or 2.

    Wiedensohler (1988), doi:10.1016/0021-8502(88)90278-9. Sizes outside its range, 20 nm to 1 um for
    two charges, count as the nearest inside; below 20 nm there is no second charge.
    """
    low, high = _SIZES[charges]
    logarithm = np.log10(np.clip(diameter, low, high) * 1e9)
    fraction = 10.0 ** np.polynomial.polynomial.polyval(logarithm, np.array(_NEGATIVE[charges]))
    result: Floats = np.where((diameter < low) & (charges == 2), 0.0, fraction)
    return result


def doubly_charged_share(diameters: Floats, spectrum: Floats, temperature: float, pressure: float) -> Floats:
    """What doubly charged larger particles add to a spectrum inverted as if all carried one charge [1].

    A particle of two charges has the mobility of a smaller one of one charge, and is counted there.

    Args:
        diameters: Channels [m], increasing, shape [channels].
        spectrum: dN/dlnD there [m^-3], shape [channels]; zero outside the channels.
        temperature: Temperature [K].
        pressure: Pressure [Pa].

    Returns:
        Added number over the spectrum itself, shape [channels].
    """
    path = float(mean_free_path(temperature, pressure, dynamic_viscosity(temperature)))
    low, high = float(diameters[0]) * 0.5, float(diameters[-1]) * 4.0
    sizes = low * (high / low) ** np.linspace(0.0, 1.0, 400, dtype=np.float64)
    ln_mobility, own = _ln_mobility(sizes, path), _ln_mobility(diameters, path)
    # Mobility falls with size: the size of half the single mobility.
    ln_partner = np.interp(math.log(2.0) - own, -ln_mobility, np.log(sizes))
    partner = np.exp(ln_partner)
    there = np.interp(ln_partner, np.log(diameters), spectrum, right=0.0)
    added = there * charged_fraction(partner, 2) / charged_fraction(diameters, 1)
    return added / np.maximum(spectrum, 1e-6 * max(float(spectrum.max()), 1e-300))


def _ln_mobility(diameters: Floats, path: float) -> Floats:
    """Logarithm of the mobility of one charge, up to a constant."""
    return np.asarray(np.log(slip_correction(2.0 * path / diameters) / diameters), dtype=np.float64)
