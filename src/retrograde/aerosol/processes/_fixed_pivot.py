"""The fixed pivot technique on groups of boxes."""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from typing import Any

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import LaneTypes
from retrograde.aerosol.processes._operators import PairOperators, coefficient_struct
from retrograde.aerosol.processes._pullback import SchemeFunctions
from retrograde.aerosol.processes._slots import GROWTH, LOSS, TENDENCY


def fixed_pivot_functions(types: LaneTypes, operators: PairOperators) -> SchemeFunctions:
    """The tendency is quadratic, with weights of each pair to the pivots below and above."""
    upper_cotangent, bulk_cotangent = _cotangent_functions(types)
    return SchemeFunctions(
        tendency=_tendency_function(types, operators),
        linearise=_linearise_function(types, operators),
        second_cotangent=upper_cotangent,
        stored_second_cotangent=upper_cotangent,
        bulk_cotangent=bulk_cotangent,
    )


def _tendency_function(types: LaneTypes, operators: PairOperators) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    rates = operators.rates
    pair_rate = operators.pair_rate

    @wp.func
    def tendency(
        c: coefficients,
        g: int,
        n: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
    ):
        rates(c, g, n, r, base)
        upward = vector()
        peak = vector()
        for i in range(c.bins):
            here = upward + c.supply[g, i]
            upward = vector()
            for q in range(c.intervals[i], c.intervals[i + 1]):
                rate = pair_rate(c, g, n, n, q)
                here += c.first[q] * rate
                upward += c.second[q] * rate
            growth = r[base + GROWTH, i]
            total = growth + r[base + LOSS, i]
            upward += wp.cw_mul(n[i], growth)
            w[TENDENCY, i] = here - wp.cw_mul(n[i], total)
            peak = wp.max(peak, total)
        escape = c.top * upward
        for q in range(c.intervals[c.bins], c.intervals[c.bins + 1]):
            escape += c.first[q] * pair_rate(c, g, n, n, q)
        w[TENDENCY, c.bins] = escape
        return peak

    return tendency


def _linearise_function(types: LaneTypes, operators: PairOperators) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    rates = operators.rates

    @wp.func
    def linearise(
        c: coefficients,
        g: int,
        n: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
    ):
        rates(c, g, n, r, base)

    return linearise


def _cotangent_functions(types: LaneTypes) -> tuple[Any, Any]:
    coefficients = coefficient_struct(types)
    vector = types.vector

    @wp.func
    def upper_cotangent(
        c: coefficients,
        a: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
        i: int,
    ):
        upper = a[i + 1]
        if i + 1 == c.bins:
            upper = c.top * upper
        return upper

    @wp.func
    def bulk_cotangent(first: vector, second: vector):
        return second - first

    return upper_cotangent, bulk_cotangent
