"""Kernels that share vapours out between particles and gas at equilibrium: plain launches, which Warp differentiates.

The amount of substance in the particles solves one equation; its derivative is that of the implicit function.
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

_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))
_STEPS = 60


@wp.struct
class EquilibriumTables:
    """What does not change during a run.

    Amount in a particle [mol] of all involatile species, then of each vapour, [bins, fractions, 1 + vapours]; volume of
    the involatile part of each species and all that follow it [m^3], [bins, fractions, species]; of the vapours their
    place among the species, molar mass [kg mol^-1], molar volume [m^3 mol^-1], and amount at saturation [mol m^-3].
    """

    amounts: Float64Tensor
    fixed: Float64Tensor
    species: Int32Array
    molar_mass: Float64Array
    molar_volume: Float64Array
    saturation: Float64Array


@wp.func
def amount_sum(number: Float64Tensor, amounts: Float64Tensor, b: Int32, k: Int32) -> Float64:
    """Amount in all particles [mol m^-3]."""
    total = wp.float64(0.0)
    for i in range(amounts.shape[0]):
        for c in range(amounts.shape[1]):
            total += number[b, i, c] * amounts[i, c, k]
    return total


@wp.kernel
def add_up(number: Float64Tensor, gas: Float64Matrix, t: EquilibriumTables, totals: Float64Matrix):
    """Involatile amount, then that of every vapour in particles and gas [mol m^-3]; over [boxes, 1 + vapours]."""
    b, k = wp.tid()
    here = amount_sum(number, t.amounts, b, k)
    if k > 0:
        totals[b, k] = here + gas[b, k - 1] / t.molar_mass[k - 1]
    else:
        totals[b, k] = here


@wp.func
def particle_amount(totals: Float64Matrix, saturation: Float64Array, b: Int32) -> Float64:
    """The root A of Q / A + sum T / (A + C) = 1; zero without an involatile amount Q.

    By Newton's method from the left: the function falls and is convex, so that it never steps past the root.
    """
    fixed = totals[b, 0]
    amount = wp.float64(fixed)
    if fixed > _ZERO:
        for _ in range(_STEPS):
            value = fixed / amount - _ONE
            slope = fixed / (amount * amount)
            for v in range(saturation.shape[0]):
                share = totals[b, v + 1] / (amount + saturation[v])
                value += share
                slope += share / (amount + saturation[v])
            amount += wp.max(value, _ZERO) / slope
    return amount


@wp.func_grad(particle_amount)
def adjoint_particle_amount(totals: Float64Matrix, saturation: Float64Array, b: Int32, cotangent: Float64):
    """By the implicit function theorem."""
    fixed = totals[b, 0]
    if fixed > _ZERO:
        amount = particle_amount(totals, saturation, b)
        slope = fixed / (amount * amount)
        for v in range(saturation.shape[0]):
            slope += totals[b, v + 1] / ((amount + saturation[v]) * (amount + saturation[v]))
        wp.adjoint[totals][b, 0] += cotangent / amount / slope
        for v in range(saturation.shape[0]):
            wp.adjoint[totals][b, v + 1] += cotangent / (amount + saturation[v]) / slope


@wp.kernel
def solve(totals: Float64Matrix, t: EquilibriumTables, amount: Float64Array):
    """Amount of all species in the particles [mol m^-3]; over [boxes]."""
    b = wp.tid()
    amount[b] = particle_amount(totals, t.saturation, b)


@wp.kernel
def share_vapours(
    totals: Float64Matrix,
    amount: Float64Array,
    gas: Float64Matrix,
    t: EquilibriumTables,
    loading: Float64Matrix,
    left: Float64Matrix,
):
    """Amount of a vapour per involatile amount [1], and the gas [kg m^-3]; over [boxes, vapours]."""
    b, v = wp.tid()
    if amount[b] > _ZERO:
        fraction = totals[b, v + 1] / (amount[b] + t.saturation[v])
        loading[b, v] = fraction * amount[b] / totals[b, 0]
        left[b, v] = fraction * t.saturation[v] * t.molar_mass[v]
    else:
        left[b, v] = gas[b, v]


@wp.func
def loaded_volume(
    loading: Float64Matrix, molar_volume: Float64Array, species: Int32Array, b: Int32, k: Int32
) -> Float64:
    """Volume of the vapours of species k and all that follow it, per involatile amount [m^3 mol^-1]."""
    total = wp.float64(0.0)
    for v in range(molar_volume.shape[0]):
        if species[v] >= k:
            total += loading[b, v] * molar_volume[v]
    return total


@wp.kernel
def load(
    loading: Float64Matrix,
    amount: Float64Array,
    cumulative: Float64Tensor,
    t: EquilibriumTables,
    volumes: Float64Array4,
):
    """Volume of each species and all that follow it [m^3]; over [boxes, bins, fractions, species]."""
    b, i, c, k = wp.tid()
    if amount[b] > _ZERO:
        taken = loaded_volume(loading, t.molar_volume, t.species, b, k)
        volumes[b, i, c, k] = t.fixed[i, c, k] + t.amounts[i, c, 0] * taken
    else:
        volumes[b, i, c, k] = cumulative[i, c, k]
