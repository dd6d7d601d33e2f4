"""Rates of single events, by the device functions that the sectional model is filled with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Float64Tensor,
    Int32,
    Int32Array,
    to_device,
    wp,
)
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics import (
    AdditiveKernel,
    BrownianKernel,
    CoagulationKernel,
    ConstantKernel,
    ConstantLoss,
    EddyDiffusionBox,
    EddyDiffusionSphere,
    LossLaw,
    PowerLawLoss,
    ProductKernel,
    TableKernel,
    TableLoss,
)
from retrograde.aerosol.physics.crump_seinfeld1981 import box_loss_rate_wp, sphere_loss_rate_wp
from retrograde.aerosol.physics.fuchs1964 import fuchs_kernel_wp
from retrograde.aerosol.physics.particle_transport import particle_transport_wp
from retrograde.aerosol.physics.power_law_loss import power_law_loss_rate_wp
from retrograde.aerosol.physics.smoluchowski_kernels import (
    additive_kernel_wp,
    constant_kernel_wp,
    product_kernel_wp,
)
from retrograde.aerosol.states import Environment

NONE, CONSTANT, ADDITIVE, PRODUCT, BROWNIAN, TABLE = (wp.constant(i) for i in range(6))
POWER_LAW, SPHERE, BOX, LOSS_TABLE = (wp.constant(i) for i in range(1, 5))

_ZERO = wp.constant(wp.float64(0.0))
_VOLUME_TO_CUBE = wp.constant(wp.float64(6.0 / np.pi))


@wp.struct
class Rates:
    """What the rates of events are computed from; see `rates_of`."""

    kernel: Int32
    kernel_first: Float64
    kernel_second: Float64
    table: Float64Tensor
    table_edges: Float64Array
    loss: Int32
    loss_parameters: Float64Array
    loss_table: Float64Matrix
    temperature: Float64Array
    pressure: Float64Array
    environment_of: Int32Array
    dilution: Float64Array


@dataclass(frozen=True, eq=False)
class RateLaws:
    """Laws of the events of a particle simulation.

    Attributes:
        kernel: Coagulation kernel, if there is coagulation.
        loss: Law of the loss to walls, if there is any.
        dilution: Dilution rate of every box [s^-1], shape [boxes].
        environment: Different environments.
        environment_of: Index of every box's environment, shape [boxes].
        grid: Bins of a kernel given as a table.
    """

    kernel: CoagulationKernel | None
    loss: LossLaw | None
    dilution: Any
    environment: Environment
    environment_of: Any
    grid: SizeGrid | None


def rates_of(laws: RateLaws, device: Any) -> Any:
    """The laws as device functions take them."""
    rates: Any = Rates()
    rates.kernel, rates.kernel_first, rates.kernel_second = _kernel_parameters(laws.kernel)
    table, edges = np.zeros((1, 1, 1)), np.zeros(2)
    if isinstance(laws.kernel, TableKernel):
        assert laws.grid is not None
        table, edges = laws.kernel.matrix_numpy(laws.grid, laws.environment), laws.grid.edges
    rates.table, rates.table_edges = to_device(table, device=device), to_device(edges, device=device)
    rates.loss, parameters = _loss_parameters(laws.loss)
    rates.loss_parameters = to_device(np.array([*parameters, *np.zeros(5)][:5]), device=device)
    loss_table = np.zeros((2, 2))
    if isinstance(laws.loss, TableLoss):
        loss_table = np.stack([np.log(laws.loss.diameters), laws.loss.values])
    rates.loss_table = to_device(loss_table, device=device)
    rates.temperature = to_device(laws.environment.temperature, device=device)
    rates.pressure = to_device(laws.environment.pressure, device=device)
    rates.environment_of = wp.array(laws.environment_of, dtype=wp.int32, device=device)
    rates.dilution = to_device(laws.dilution, device=device)
    return rates


def _kernel_parameters(kernel: CoagulationKernel | None) -> tuple[int, float, float]:
    match kernel:
        case None:
            return int(NONE), 0.0, 0.0
        case ConstantKernel():
            return int(CONSTANT), kernel.rate, 0.0
        case AdditiveKernel():
            return int(ADDITIVE), kernel.slope, 0.0
        case ProductKernel():
            return int(PRODUCT), kernel.coefficient, 0.0
        case BrownianKernel():
            return int(BROWNIAN), kernel.density, kernel.form.value
        case TableKernel():
            return int(TABLE), 0.0, 0.0
        case _:
            raise ValueError(f"kernel: {type(kernel).__name__} has no device function for pairs of particles")


def _loss_parameters(law: LossLaw | None) -> tuple[int, tuple[float, ...]]:
    match law:
        case None:
            return int(NONE), ()
        case ConstantLoss():
            return int(POWER_LAW), (law.rate, 0.0, 0.0, 1.0)
        case PowerLawLoss():
            return int(POWER_LAW), (law.rate, law.slope, law.exponent, law.reference_diameter)
        case EddyDiffusionSphere():
            return int(SPHERE), (law.density, law.eddy_coefficient, law.radius)
        case EddyDiffusionBox():
            return int(BOX), (law.density, law.eddy_coefficient, law.length, law.width, law.height)
        case TableLoss():
            return int(LOSS_TABLE), ()
        case _:
            raise ValueError(f"loss: {type(law).__name__} has no device function for single particles")


@wp.func
def diameter_wp(volume: Float64) -> Float64:
    """Diameter [m] of a sphere of the given volume [m^3]."""
    return wp.cbrt(_VOLUME_TO_CUBE * volume)


@wp.func
def smooth_pair_rate_wp(
    kernel: Int32,
    first: Float64,
    second: Float64,
    volume_a: Float64,
    volume_b: Float64,
    temperature: Float64,
    pressure: Float64,
) -> Float64:
    """Rate constant [m^3 s^-1] of the kernels given by a formula."""
    if kernel == CONSTANT:
        return constant_kernel_wp(volume_a, volume_b, first)
    if kernel == ADDITIVE:
        return additive_kernel_wp(volume_a, volume_b, first)
    if kernel == PRODUCT:
        return product_kernel_wp(volume_a, volume_b, first)
    if kernel == BROWNIAN:
        return fuchs_kernel_wp(diameter_wp(volume_a), diameter_wp(volume_b), temperature, pressure, first, second)
    return _ZERO


@wp.func
def _bin_of(edges: Float64Array, value: Float64) -> Int32:
    """Index of the interval that holds the value, the first or last one outside."""
    low = wp.int32(0)
    high = edges.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if value >= edges[middle]:
            low = middle
        else:
            high = middle
    return low


@wp.func
def pair_rate_wp(rates: Rates, box: Int32, volume_a: Float64, volume_b: Float64) -> Float64:
    """Rate constant of coagulation of two particles [m^3 s^-1] of given volumes [m^3]."""
    e = rates.environment_of[box]
    if rates.kernel == TABLE:
        row = wp.min(e, rates.table.shape[0] - 1)
        return rates.table[row, _bin_of(rates.table_edges, volume_a), _bin_of(rates.table_edges, volume_b)]
    return smooth_pair_rate_wp(
        rates.kernel,
        rates.kernel_first,
        rates.kernel_second,
        volume_a,
        volume_b,
        rates.temperature[e],
        rates.pressure[e],
    )


@wp.func
def _wall_rate_wp(
    law: Int32,
    p0: Float64,
    p1: Float64,
    p2: Float64,
    p3: Float64,
    p4: Float64,
    volume: Float64,
    temperature: Float64,
    pressure: Float64,
) -> Float64:
    diameter = diameter_wp(volume)
    if law == POWER_LAW:
        return power_law_loss_rate_wp(diameter, p0, p1, p2, p3)
    if law == SPHERE:
        moves = particle_transport_wp(diameter, temperature, pressure, p0)
        return sphere_loss_rate_wp(moves[0], moves[2], p1, p2)
    if law == BOX:
        moves = particle_transport_wp(diameter, temperature, pressure, p0)
        return box_loss_rate_wp(moves[0], moves[2], p1, p2, p3, p4)
    return _ZERO


@wp.func
def _table_segment(table: Float64Matrix, ln_diameter: Float64) -> Int32:
    low = wp.int32(0)
    high = table.shape[1] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if ln_diameter >= table[0, middle]:
            low = middle
        else:
            high = middle
    return low


@wp.func
def loss_rate_wp(rates: Rates, box: Int32, volume: Float64) -> Float64:
    """First-order rate at which a particle is lost to walls and by dilution [s^-1]."""
    e = rates.environment_of[box]
    p = rates.loss_parameters
    if rates.loss == LOSS_TABLE:
        x = wp.log(diameter_wp(volume))
        i = _table_segment(rates.loss_table, x)
        width = rates.loss_table[0, i + 1] - rates.loss_table[0, i]
        share = wp.clamp((x - rates.loss_table[0, i]) / width, _ZERO, wp.float64(1.0))
        rise = rates.loss_table[1, i + 1] - rates.loss_table[1, i]
        return rates.dilution[box] + rates.loss_table[1, i] + share * rise
    return rates.dilution[box] + _wall_rate_wp(
        rates.loss, p[0], p[1], p[2], p[3], p[4], volume, rates.temperature[e], rates.pressure[e]
    )
