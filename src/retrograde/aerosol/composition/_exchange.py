"""Kernels of one substep of condensation on pivots: plain launches, which Warp differentiates.

Particles keep their sizes and compositions for the rates of a substep, within which the gas follows its exact solution.
"""

# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Array4,
    Float64Matrix,
    Float64Tensor,
    Int32,
    Int32Array,
    wp,
)
from retrograde.aerosol.physics.relaxation import mean_decay_wp

_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))


@wp.struct
class ExchangeTables:
    """What does not change during a run.

    Air cleared by a particle [m^3 s^-1], [boxes, bins, vapours]; vapour at its surface [kg m^-3], [boxes, bins,
    fractions, vapours]; volume of each vapour in a particle [m^3], [bins, fractions, vapours]; volume of each species
    and all that follow it [m^3], [bins, fractions, species]; place of the vapours among the species and their density
    [kg m^-3], [vapours].
    """

    clearing: Float64Tensor
    surface: Float64Array4
    held: Float64Tensor
    cumulative: Float64Tensor
    species: Int32Array
    density: Float64Array


@wp.func
def sink_sum(number: Float64Tensor, t: ExchangeTables, b: Int32, v: Int32) -> Float64:
    """Rate at which particles take up a vapour [s^-1]."""
    total = wp.float64(0.0)
    for i in range(t.cumulative.shape[0]):
        for c in range(t.cumulative.shape[1]):
            total += number[b, i, c] * t.clearing[b, i, v]
    return total


@wp.func
def source_sum(number: Float64Tensor, t: ExchangeTables, b: Int32, v: Int32) -> Float64:
    """Rate at which particles give off a vapour [kg m^-3 s^-1]."""
    total = wp.float64(0.0)
    for i in range(t.cumulative.shape[0]):
        for c in range(t.cumulative.shape[1]):
            total += number[b, i, c] * t.clearing[b, i, v] * t.surface[b, i, c, v]
    return total


@wp.kernel
def collect(number: Float64Tensor, t: ExchangeTables, sink: Float64Matrix, source: Float64Matrix):
    """Uptake and release by all particles; over [boxes, vapours]."""
    b, v = wp.tid()
    sink[b, v] = sink_sum(number, t, b, v)
    source[b, v] = source_sum(number, t, b, v)


@wp.kernel
def mean_gas(gas: Float64Matrix, sink: Float64Matrix, source: Float64Matrix, h: Float64, mean: Float64Matrix):
    """Mean concentration of the gas over a substep [kg m^-3]; over [boxes, vapours]."""
    b, v = wp.tid()
    if sink[b, v] > _ZERO:
        even = source[b, v] / sink[b, v]
        mean[b, v] = even + (gas[b, v] - even) * mean_decay_wp(sink[b, v] * h)
    else:
        mean[b, v] = gas[b, v]


@wp.kernel
def exchange(mean: Float64Matrix, t: ExchangeTables, h: Float64, change: Float64Array4):
    """Volume that a particle would gain [m^3], at least minus what it holds; over [boxes, bins, fractions, vapours]."""
    b, i, c, v = wp.tid()
    wanted = t.clearing[b, i, v] * (mean[b, v] - t.surface[b, i, c, v]) * h / t.density[v]
    held = t.held[i, c, v]
    if wanted < -held:
        change[b, i, c, v] = -held
    else:
        change[b, i, c, v] = wanted


@wp.func
def gained_sum(number: Float64Tensor, change: Float64Array4, b: Int32, v: Int32) -> Float64:
    """Volume that growing particles gain [m^3 m^-3]."""
    total = wp.float64(0.0)
    for i in range(change.shape[1]):
        for c in range(change.shape[2]):
            total += number[b, i, c] * wp.max(change[b, i, c, v], _ZERO)
    return total


@wp.func
def lost_sum(number: Float64Tensor, change: Float64Array4, b: Int32, v: Int32) -> Float64:
    """Volume that shrinking particles lose [m^3 m^-3]."""
    total = wp.float64(0.0)
    for i in range(change.shape[1]):
        for c in range(change.shape[2]):
            total += number[b, i, c] * wp.max(-change[b, i, c, v], _ZERO)
    return total


@wp.kernel
def balance(
    number: Float64Tensor, change: Float64Array4, t: ExchangeTables, gained: Float64Matrix, lost: Float64Matrix
):
    """What particles gain and what they lose [kg m^-3]; over [boxes, vapours]."""
    b, v = wp.tid()
    gained[b, v] = gained_sum(number, change, b, v) * t.density[v]
    lost[b, v] = lost_sum(number, change, b, v) * t.density[v]


@wp.kernel
def share_out(
    gas: Float64Matrix, gained: Float64Matrix, lost: Float64Matrix, share: Float64Matrix, left: Float64Matrix
):
    """Share of the uptake that the gas allows for [1], and the gas after it [kg m^-3]; over [boxes, vapours]."""
    b, v = wp.tid()
    there = gas[b, v] + lost[b, v]
    if gained[b, v] > there:
        share[b, v] = there / gained[b, v]
        left[b, v] = _ZERO
    else:
        share[b, v] = _ONE
        left[b, v] = there - gained[b, v]


@wp.func
def change_sum(
    change: Float64Array4, share: Float64Matrix, species: Int32Array, b: Int32, i: Int32, c: Int32, k: Int32
) -> Float64:
    """Volume that a particle gains of species k and all that follow it [m^3]."""
    total = wp.float64(0.0)
    for v in range(change.shape[3]):
        if species[v] >= k:
            total += wp.max(change[b, i, c, v], _ZERO) * share[b, v] + wp.min(change[b, i, c, v], _ZERO)
    return total


@wp.kernel
def grow(change: Float64Array4, share: Float64Matrix, t: ExchangeTables, volumes: Float64Array4):
    """Volume of each species and all that follow it [m^3]; over [boxes, bins, fractions, species]."""
    b, i, c, k = wp.tid()
    gain = change_sum(change, share, t.species, b, i, c, k)
    volumes[b, i, c, k] = wp.max(t.cumulative[i, c, k] + gain, _ZERO)


@wp.kernel(enable_backward=False)
def notice(
    number: Float64Tensor,
    change: Float64Array4,
    share: Float64Matrix,
    t: ExchangeTables,
    emptied: Int32Array,
    exhausted: Int32Array,
):
    """Boxes in which a vapour is gone from particles, or from the gas; over [boxes, bins, fractions, vapours]."""
    b, i, c, v = wp.tid()
    if number[b, i, c] > _ZERO and t.held[i, c, v] > _ZERO and change[b, i, c, v] <= -t.held[i, c, v]:
        emptied[b] = 1
    if share[b, v] < _ONE:
        exhausted[b] = 1
