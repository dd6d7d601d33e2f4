"""Kernel-matrix products and pair rates of coagulation on groups of boxes.

The tendency of coagulation is quadratic in the numbers. Its two matrix products and its list of
pairs are all that depends on whether the boxes share one coagulation kernel; the schemes are
written on top of the operators made here.
"""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from dataclasses import dataclass
from functools import cache
from typing import Any

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import LaneTypes
from retrograde.aerosol.processes._slots import GROWTH, GROWTH_WEIGHTED, LOSS, LOSS_WEIGHTED, PULLED

GROWTH_MATRIX = wp.constant(0)
LOSS_MATRIX = wp.constant(1)
GROWTH_TRANSPOSED = wp.constant(2)
LOSS_TRANSPOSED = wp.constant(3)


@cache
def coefficient_struct(types: LaneTypes) -> Any:
    """Struct of everything that a scheme's kernels read besides states."""

    @wp.struct
    class Coefficients:
        bins: wp.int32
        blocks: wp.int32
        top: types.real
        matrices: wp.array(dtype=types.block, ndim=3)
        starts: wp.array(dtype=wp.int32, ndim=2)
        stops: wp.array(dtype=wp.int32, ndim=2)
        boxwise: wp.array(dtype=types.vector, ndim=3)
        bulk: wp.array(dtype=wp.int32)
        larger: wp.array(dtype=wp.int32)
        smaller: wp.array(dtype=wp.int32)
        intervals: wp.array(dtype=wp.int32)
        first: wp.array(dtype=types.real)
        second: wp.array(dtype=types.real)
        backstep: wp.array(dtype=types.real)
        removal: wp.array(dtype=types.vector, ndim=2)
        supply: wp.array(dtype=types.vector, ndim=2)

    return Coefficients


@dataclass(frozen=True)
class PairOperators:
    """Warp functions on one group's numbers `n`, record `r` and scratch slots `w`.

    Attributes:
        rates: `(c, g, n, r, base)` fills the growth and loss slots of the linearisation `base`.
        transposed: `(c, g, w)` adds both transposed products of the weighted slots to `PULLED`.
        pair_rate: `(c, g, x, y, q)` rate of the listed pair q but for its weights, of numbers `x`
            of its first bin and `y` of its second.
        pair_scale: `(c, g, q, z)` scales a cotangent by the pair's share of the kernel.
    """

    rates: Any
    transposed: Any
    pair_rate: Any
    pair_scale: Any


def shared_kernel_operators(types: LaneTypes) -> PairOperators:
    """Operators for a kernel shared by all boxes; pair weights contain the kernel."""
    coefficients = coefficient_struct(types)
    vector = types.vector
    product, add_product = _lone_products(types) if types.lanes == 1 else _group_products(types)

    @wp.func
    def rates(
        c: coefficients,
        g: int,
        n: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        base: int,
    ):
        product(c, GROWTH_MATRIX, n, r[base + GROWTH])
        add_product(c, LOSS_MATRIX, n, c.removal[g], r[base + LOSS])

    @wp.func
    def transposed(c: coefficients, g: int, w: wp.array(dtype=vector, ndim=2)):
        add_product(c, GROWTH_TRANSPOSED, w[GROWTH_WEIGHTED], w[PULLED], w[PULLED])
        add_product(c, LOSS_TRANSPOSED, w[LOSS_WEIGHTED], w[PULLED], w[PULLED])

    @wp.func
    def pair_rate(c: coefficients, g: int, x: wp.array(dtype=vector), y: wp.array(dtype=vector), q: int):
        return wp.cw_mul(x[c.larger[q]], y[c.smaller[q]])

    @wp.func
    def pair_scale(c: coefficients, g: int, q: int, z: vector):
        return z

    return PairOperators(rates, transposed, pair_rate, pair_scale)


def _group_products(types: LaneTypes) -> tuple[Any, Any]:
    """Functions for matrix m: `(c, m, x, y)`, y = A x, and `(c, m, x, z, y)`, y = z + A x.

    Four rows at a time, so that every loaded element of x serves four sums.
    """
    coefficients = coefficient_struct(types)
    vector = types.vector

    @wp.func
    def product(c: coefficients, m: int, x: wp.array(dtype=vector), y: wp.array(dtype=vector)):
        for b in range(c.blocks):
            y0 = vector()
            y1 = vector()
            y2 = vector()
            y3 = vector()
            for k in range(c.starts[m, b], c.stops[m, b]):
                a = c.matrices[m, b, k]
                v = x[k]
                y0 += a[0] * v
                y1 += a[1] * v
                y2 += a[2] * v
                y3 += a[3] * v
            y[4 * b] = y0
            y[4 * b + 1] = y1
            y[4 * b + 2] = y2
            y[4 * b + 3] = y3

    @wp.func
    def add_product(
        c: coefficients,
        m: int,
        x: wp.array(dtype=vector),
        z: wp.array(dtype=vector),
        y: wp.array(dtype=vector),
    ):
        for b in range(c.blocks):
            y0 = z[4 * b]
            y1 = z[4 * b + 1]
            y2 = z[4 * b + 2]
            y3 = z[4 * b + 3]
            for k in range(c.starts[m, b], c.stops[m, b]):
                a = c.matrices[m, b, k]
                v = x[k]
                y0 += a[0] * v
                y1 += a[1] * v
                y2 += a[2] * v
                y3 += a[3] * v
            y[4 * b] = y0
            y[4 * b + 1] = y1
            y[4 * b + 2] = y2
            y[4 * b + 3] = y3

    return product, add_product


def _lone_products(types: LaneTypes) -> tuple[Any, Any]:
    """The functions of `_group_products` for a lone box, with SIMD lanes along the rows."""
    coefficients = coefficient_struct(types)
    vector = types.vector
    block = types.block
    rows = types.rows

    @wp.func
    def sums(c: coefficients, m: int, b: int, x: wp.array(dtype=vector)):
        total = block()
        for k in range(c.starts[m, b], c.stops[m, b]):
            total += c.matrices[m, b, k] * x[k][0]
        return total

    @wp.func
    def product(c: coefficients, m: int, x: wp.array(dtype=vector), y: wp.array(dtype=vector)):
        for b in range(c.blocks):
            total = sums(c, m, b, x)
            for row in range(rows):
                y[rows * b + row] = vector(total[row])

    @wp.func
    def add_product(
        c: coefficients,
        m: int,
        x: wp.array(dtype=vector),
        z: wp.array(dtype=vector),
        y: wp.array(dtype=vector),
    ):
        for b in range(c.blocks):
            total = sums(c, m, b, x)
            for row in range(rows):
                y[rows * b + row] = z[rows * b + row] + vector(total[row])

    return product, add_product


def boxwise_kernel_operators(types: LaneTypes) -> PairOperators:
    """Operators for a kernel of its own in every box; pair weights leave the kernel out."""
    coefficients = coefficient_struct(types)
    vector = types.vector

    @wp.func
    def rates(
        c: coefficients,
        g: int,
        n: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        base: int,
    ):
        for row in range(c.bins):
            growth = vector()
            loss = c.removal[g, row]
            for k in range(c.bulk[row]):
                growth += wp.cw_mul(c.boxwise[g, row, k], n[k])
            for k in range(c.bulk[row], c.bins):
                loss += wp.cw_mul(c.boxwise[g, row, k], n[k])
            r[base + GROWTH, row] = growth
            r[base + LOSS, row] = loss

    @wp.func
    def transposed(c: coefficients, g: int, w: wp.array(dtype=vector, ndim=2)):
        pulled = w[PULLED]
        for row in range(c.bins):
            growth = w[GROWTH_WEIGHTED, row]
            loss = w[LOSS_WEIGHTED, row]
            for k in range(c.bulk[row]):
                pulled[k] = pulled[k] + wp.cw_mul(c.boxwise[g, row, k], growth)
            for k in range(c.bulk[row], c.bins):
                pulled[k] = pulled[k] + wp.cw_mul(c.boxwise[g, row, k], loss)

    @wp.func
    def pair_rate(c: coefficients, g: int, x: wp.array(dtype=vector), y: wp.array(dtype=vector), q: int):
        j = c.larger[q]
        k = c.smaller[q]
        return wp.cw_mul(c.boxwise[g, j, k], wp.cw_mul(x[j], y[k]))

    @wp.func
    def pair_scale(c: coefficients, g: int, q: int, z: vector):
        return wp.cw_mul(c.boxwise[g, c.larger[q], c.smaller[q]], z)

    return PairOperators(rates, transposed, pair_rate, pair_scale)
