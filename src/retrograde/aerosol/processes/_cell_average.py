"""The cell average technique on groups of boxes.

With the excess W of the volume of a cell's products over the pivot, their mean is never formed: a
cell with W > 0 hands W on to the next pivot above, one with W < 0 to the one below, and an empty
cell has W = 0.
"""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from typing import Any

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import LaneTypes
from retrograde.aerosol.processes._operators import PairOperators, coefficient_struct
from retrograde.aerosol.processes._pullback import SchemeFunctions
from retrograde.aerosol.processes._slots import EXCESS, GROWTH, LOSS, SECOND_COTANGENT, TENDENCY


def cell_average_functions(types: LaneTypes, operators: PairOperators) -> SchemeFunctions:
    """The tendency is quadratic but for the side to which each cell hands its excess."""
    births = _births_function(types, operators)
    second_cotangent, stored, bulk_cotangent = _cotangent_functions(types)
    return SchemeFunctions(
        tendency=_tendency_function(types, births),
        linearise=births,
        second_cotangent=second_cotangent,
        stored_second_cotangent=stored,
        bulk_cotangent=bulk_cotangent,
    )


def _births_function(types: LaneTypes, operators: PairOperators) -> Any:
    """Counts and excesses of all cells, before the excess is handed on."""
    coefficients = coefficient_struct(types)
    vector = types.vector
    rates = operators.rates
    pair_rate = operators.pair_rate

    @wp.func
    def births(
        c: coefficients,
        g: int,
        n: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
    ):
        rates(c, g, n, r, base)
        peak = vector()
        for i in range(c.bins):
            count = c.supply[g, i]
            growth = r[base + GROWTH, i]
            loss = r[base + LOSS, i]
            excess = wp.cw_mul(n[i], growth)
            for q in range(c.intervals[i], c.intervals[i + 1]):
                rate = pair_rate(c, g, n, n, q)
                count += c.first[q] * rate
                excess += c.second[q] * rate
            r[base + EXCESS, i] = excess
            w[TENDENCY, i] = count - wp.cw_mul(n[i], loss)
            peak = wp.max(peak, growth + loss)
        escape = vector()
        for q in range(c.intervals[c.bins], c.intervals[c.bins + 1]):
            escape += c.first[q] * pair_rate(c, g, n, n, q)
        w[TENDENCY, c.bins] = escape
        return peak

    return births


def _tendency_function(types: LaneTypes, births: Any) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    nothing = types.vector(0.0)

    @wp.func
    def tendency(
        c: coefficients,
        g: int,
        n: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
    ):
        peak = births(c, g, n, r, w, base)
        from_below = vector()
        for i in range(c.bins):
            excess = r[base + EXCESS, i]
            upward = wp.max(excess, nothing)
            downward = c.backstep[i] * wp.min(excess, nothing)
            change = w[TENDENCY, i] + from_below - upward + downward
            if i + 1 < c.bins:
                change -= c.backstep[i + 1] * wp.min(r[base + EXCESS, i + 1], nothing)
            w[TENDENCY, i] = change
            from_below = upward
        w[TENDENCY, c.bins] = w[TENDENCY, c.bins] + c.top * from_below
        return peak

    return tendency


def _cotangent_functions(types: LaneTypes) -> tuple[Any, Any, Any]:
    coefficients = coefficient_struct(types)
    vector = types.vector
    nothing = types.vector(0.0)
    tiny = types.vector(1.0e-37 if types.real is wp.float32 else 1.0e-300)

    @wp.func
    def second_cotangent(
        c: coefficients,
        a: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
        i: int,
    ):
        upward = a[i + 1]
        if i + 1 == c.bins:
            upward = c.top * upward
        upward -= a[i]
        downward = vector()
        if i > 0:
            downward = c.backstep[i] * (a[i] - a[i - 1])
        excess = r[base + EXCESS, i]
        up = wp.max(excess, nothing) + tiny
        is_up = wp.cw_div(up, up - wp.min(excess, nothing))
        second = downward + wp.cw_mul(is_up, upward - downward)
        w[SECOND_COTANGENT, i] = second
        return second

    @wp.func
    def stored_second_cotangent(
        c: coefficients,
        a: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
        i: int,
    ):
        return w[SECOND_COTANGENT, i]

    @wp.func
    def bulk_cotangent(first: vector, second: vector):
        return second

    return second_cotangent, stored_second_cotangent, bulk_cotangent
