"""A scanning mobility classifier: when the air of each channel entered it, and what one count stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.constants import SI, Constants
from retrograde.aerosol.physics.davies1945 import slip_correction

Floats = NDArray[np.float64]

_POSITIVE = (-2.3484, 0.6044, 0.4800, 0.0013, -0.1553, 0.0320)
_NEGATIVE = (-2.3197, 0.6175, 0.6201, -0.1105, -0.1260, 0.0297)


@dataclass(frozen=True)
class Column:
    """Geometry of a cylindrical classifier.

    Attributes:
        inner_radius: Radius of the inner electrode [m].
        outer_radius: Radius of the outer electrode [m].
        length: Length between aerosol inlet and outlet [m].
    """

    inner_radius: float
    outer_radius: float
    length: float


@dataclass(frozen=True)
class Ramp:
    """Exponential voltage ramps of consecutive scans; every field broadcasts to shape [scans, 1].

    Attributes:
        sheath_flow: Sheath flow [m^3 s^-1].
        low_voltage: Voltage at the start of the ramp [V].
        high_voltage: Voltage at its end [V].
        duration: Duration of the ramp [s].
        transit: Time that the air takes from the classifier's inlet to its outlet [s].
        mean_free_path: Mean free path of the gas [m].
        viscosity: Dynamic viscosity of the gas [Pa s].
    """

    sheath_flow: Floats
    low_voltage: Floats
    high_voltage: Floats
    duration: Floats
    transit: Floats
    mean_free_path: Floats
    viscosity: Floats

    @property
    def time_constant(self) -> Floats:
        """Time in which the voltage rises by a factor e [s]."""
        return self.duration / np.log(self.high_voltage / self.low_voltage)


def electrical_mobility(diameter: Any, mean_free_path: Any, viscosity: Any, constants: Constants = SI) -> Any:
    """Electrical mobility of spheres with one charge [m^2 V^-1 s^-1].

    Z = e Cc / (3 pi mu D)

    Args:
        diameter: Mobility diameter [m].
        mean_free_path: Mean free path of the gas [m].
        viscosity: Dynamic viscosity of the gas [Pa s].
        constants: Physical constants.

    Source: Seinfeld and Pandis (2016), Atmospheric Chemistry and Physics, 3rd ed., chapter 9.
    """
    slip = slip_correction(2.0 * mean_free_path / diameter)
    return constants.elementary_charge * slip / (3.0 * np.pi * viscosity * diameter)


def selecting_voltage(mobility: Any, sheath_flow: Any, column: Column) -> Any:
    """Constant voltage at which particles of a mobility leave a classifier with balanced flows [V].

    V = Q ln(r2 / r1) / (2 pi L Z)

    Args:
        mobility: Electrical mobility [m^2 V^-1 s^-1].
        sheath_flow: Sheath flow [m^3 s^-1].
        column: Geometry.

    Source: Knutson and Whitby (1975), Journal of Aerosol Science 6, 443, doi:10.1016/0021-8502(75)90060-9.
    """
    return sheath_flow * np.log(column.outer_radius / column.inner_radius) / (2.0 * np.pi * column.length * mobility)


def inlet_times(diameter: Floats, ramp: Ramp, column: Column) -> Floats:
    """Time after the start of the ramp at which the air of each size entered the classifier [s].

    Particles that leave it after the transit time tf have seen the ramp's mean over that time, so that
    those which enter at t are selected by V0 exp(t / tau) (tau / tf) (exp(tf / tau) - 1). Sizes outside
    the ramp take its first or last such time.

    Args:
        diameter: Mobility diameters, shape [bins] [m].
        ramp: Ramps of the scans.
        column: Geometry.

    Returns:
        Times of shape [scans, bins] [s].

    Source: Wang and Flagan (1990), Aerosol Science and Technology 13, 230, doi:10.1080/02786829008959441.
    """
    mobility = electrical_mobility(diameter, ramp.mean_free_path, ramp.viscosity)
    voltage = selecting_voltage(mobility, ramp.sheath_flow, column)
    tau = ramp.time_constant
    mean = tau / ramp.transit * np.expm1(ramp.transit / tau)
    return np.clip(tau * np.log(voltage / ramp.low_voltage / mean), 0.0, ramp.duration - ramp.transit)


def charged_fraction(diameter: Floats, *, positive: bool) -> Floats:
    """Fraction of particles with one positive, or one negative, charge in bipolar equilibrium [1], shape [bins].

    Fitted for 1 nm to 1 um; larger sizes take the value at 1 um.

    Source: Wiedensohler (1988), Journal of Aerosol Science 19, 387, doi:10.1016/0021-8502(88)90278-9.
    """
    powers = np.log10(np.clip(diameter * 1e9, 1.0, 1e3))
    logarithm = np.polynomial.Polynomial(_POSITIVE if positive else _NEGATIVE)(powers)
    return np.asarray(10.0**logarithm, dtype=np.float64)


def number_per_count(
    diameter: Floats, ramp: Ramp, *, aerosol_flow: Floats, sample_flow: Floats, positive: bool
) -> Floats:
    """Number concentration that one count of singly charged particles stands for [m^-3], shape [scans, bins].

    A counter of flow q sees, while the ramp passes a bin, the mobilities that the classifier lets through:
    a share Qa / Qsh of the number per logarithm of mobility. The widths cancel: 1 / (q tau f Qa / Qsh), with
    f the charged fraction. Losses, counting efficiency and further charges are not in it.

    Args:
        diameter: Mobility diameters, shape [bins] [m].
        ramp: Ramps of the scans.
        aerosol_flow: Aerosol flow into the classifier [m^3 s^-1], as the fields of `ramp`.
        sample_flow: Flow that the counter counts in [m^3 s^-1], likewise.
        positive: Whether the counted particles are charged positively, as with a negative high voltage.

    Source: Knutson and Whitby (1975), doi:10.1016/0021-8502(75)90060-9, for the classifier's transfer function.
    """
    share = charged_fraction(diameter, positive=positive) * aerosol_flow / ramp.sheath_flow
    return 1.0 / (sample_flow * ramp.time_constant * share)
