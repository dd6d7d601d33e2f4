"""Kernels of one substep of condensation: plain launches, which Warp differentiates.

Particle sizes are held for a substep, within which gas and uptake follow their exact solution.
"""

# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Float64Tensor,
    Int32Array,
    wp,
)
from retrograde.aerosol.particles._rates import diameter_wp
from retrograde.aerosol.physics.fuchs_sutugin1971 import uptake_rate_wp
from retrograde.aerosol.physics.relaxation import mean_decay_wp
from retrograde.aerosol.physics.thomson1871 import kelvin_ratio_wp

_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))


@wp.struct
class Vapours:
    """Properties of the species; see `Condensation`. All of shape [species], the temperature [boxes]."""

    diffusivity: Float64Array
    molar_mass: Float64Array
    accommodation: Float64Array
    saturation: Float64Array
    surface_tension: Float64Array
    exchanged: Int32Array
    density: Float64Array
    temperature: Float64Array
    volume: Float64Array


@wp.kernel
def measure(masses: Float64Tensor, v: Vapours, sizes: Float64Matrix, moles: Float64Matrix):
    """Volume [m^3] and amount [mol] of every particle; over [boxes, particles]."""
    box, i = wp.tid()
    size = wp.float64(0.0)
    amount = wp.float64(0.0)
    for s in range(masses.shape[2]):
        size += masses[box, i, s] / v.density[s]
        amount += masses[box, i, s] / v.molar_mass[s]
    sizes[box, i] = size
    moles[box, i] = amount


@wp.kernel
def uptake(
    masses: Float64Tensor,
    sizes: Float64Matrix,
    moles: Float64Matrix,
    v: Vapours,
    factor: Float64Array,
    clearing: Float64Tensor,
    surface: Float64Tensor,
):
    """Air cleared by every particle [m^3 s^-1], and vapour at its surface [kg m^-3]; over [boxes, particles, species].

    Over the surface of an ideal mixture vapours have their pure concentration times mole fraction and
    Kelvin's ratio.
    """
    box, i, s = wp.tid()
    if sizes[box, i] > _ZERO and v.exchanged[s] != 0:
        d = diameter_wp(sizes[box, i])
        t = v.temperature[box]
        rate = uptake_rate_wp(d, v.diffusivity[s], v.molar_mass[s], v.accommodation[s], t)
        clearing[box, i, s] = factor[box] * rate
        fraction = masses[box, i, s] / v.molar_mass[s] / moles[box, i]
        ratio = kelvin_ratio_wp(d, v.surface_tension[s], v.molar_mass[s], v.density[s], t)
        surface[box, i, s] = v.saturation[s] * fraction * ratio


@wp.kernel
def collect(clearing: Float64Tensor, surface: Float64Tensor, v: Vapours, sink: Float64Matrix, source: Float64Matrix):
    """Rate at which gas is taken up [s^-1] and given off [kg m^-3 s^-1]; over [boxes, species]."""
    box, s = wp.tid()
    for i in range(clearing.shape[1]):
        sink[box, s] += clearing[box, i, s] / v.volume[box]
        source[box, s] += clearing[box, i, s] * surface[box, i, s] / v.volume[box]


@wp.kernel
def mean_gas(gas: Float64Matrix, sink: Float64Matrix, source: Float64Matrix, duration: Float64, mean: Float64Matrix):
    """Mean concentration of the gas over a substep [kg m^-3]; over [boxes, species]."""
    box, s = wp.tid()
    if sink[box, s] > _ZERO:
        even = source[box, s] / sink[box, s]
        mean[box, s] = even + (gas[box, s] - even) * mean_decay_wp(sink[box, s] * duration)
    else:
        mean[box, s] = gas[box, s]


@wp.kernel
def exchange(
    masses: Float64Tensor,
    clearing: Float64Tensor,
    surface: Float64Tensor,
    mean: Float64Matrix,
    duration: Float64,
    change: Float64Tensor,
    touched: Int32Array,
):
    """Mass that every particle gains [kg], at least the negative of what it has; over [boxes, particles, species]."""
    box, i, s = wp.tid()
    wanted = clearing[box, i, s] * (mean[box, s] - surface[box, i, s]) * duration
    if wanted < -masses[box, i, s]:
        change[box, i, s] = -masses[box, i, s]
        touched[box] = 1
    else:
        change[box, i, s] = wanted


@wp.kernel
def balance(change: Float64Tensor, v: Vapours, gained: Float64Matrix, lost: Float64Matrix):
    """What particles gain and what they lose [kg m^-3]; over [boxes, species]."""
    box, s = wp.tid()
    for i in range(change.shape[1]):
        gained[box, s] += wp.max(change[box, i, s], _ZERO) / v.volume[box]
        lost[box, s] -= wp.min(change[box, i, s], _ZERO) / v.volume[box]


@wp.kernel
def share_out(
    gas: Float64Matrix, gained: Float64Matrix, lost: Float64Matrix, share: Float64Matrix, touched: Int32Array
):
    """Share of the wanted uptake that the gas there is allows for [1]; over [boxes, species]."""
    box, s = wp.tid()
    if gained[box, s] > gas[box, s] + lost[box, s]:
        share[box, s] = (gas[box, s] + lost[box, s]) / gained[box, s]
        touched[box] = 1
    else:
        share[box, s] = _ONE


@wp.kernel
def settle(masses: Float64Tensor, change: Float64Tensor, share: Float64Matrix, after: Float64Tensor):
    """Masses after the substep [kg]; over [boxes, particles, species]."""
    box, i, s = wp.tid()
    if change[box, i, s] > _ZERO:
        after[box, i, s] = masses[box, i, s] + change[box, i, s] * share[box, s]
    else:
        after[box, i, s] = masses[box, i, s] + change[box, i, s]


@wp.kernel
def gas_left(masses: Float64Tensor, after: Float64Tensor, gas: Float64Matrix, v: Vapours, left: Float64Matrix):
    """Gas after the substep [kg m^-3]: what particles have gained is gone from it; over [boxes, species]."""
    box, s = wp.tid()
    left[box, s] = gas[box, s]
    for i in range(masses.shape[1]):
        left[box, s] -= (after[box, i, s] - masses[box, i, s]) / v.volume[box]
