"""The semi-implicit method on groups of boxes."""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from typing import Any

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import LaneTypes
from retrograde.aerosol.processes._operators import PairOperators, coefficient_struct
from retrograde.aerosol.processes._slots import (
    COTANGENT,
    GROWTH_WEIGHTED,
    INTERMEDIATE,
    LOSS,
    LOSS_WEIGHTED,
    PULLED,
    STAGE_COTANGENT,
    START,
    STATE,
)
from retrograde.aerosol.processes._stepping import StepFunctions


def semi_implicit_functions(types: LaneTypes, operators: PairOperators) -> StepFunctions:
    """One step in which donors are new and partners old, and its transpose.

    A bin's new number needs those of smaller bins alone, so that one sweep upward solves the step.
    Volume is conserved and numbers stay positive for steps of any length; of first order in time.
    Jacobson, Turco, Jensen and Toon (1994), doi:10.1016/1352-2310(94)90280-1.
    """
    linearise = _solve_function(types, operators)
    return StepFunctions(
        step=_step_function(types, linearise),
        linearise=linearise,
        relinearise=_relinearise_function(types, operators),
        step_back=_step_back_function(types, operators),
    )


def _solve_function(types: LaneTypes, operators: PairOperators) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    one = types.vector(1.0)
    rates = operators.rates
    pair_rate = operators.pair_rate

    @wp.func
    def solve(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
    ):
        n = r[STATE]
        y = r[INTERMEDIATE]
        rates(c, g, n, r, START)
        for i in range(c.bins):
            gain = c.supply[g, i]
            for q in range(c.intervals[i], c.intervals[i + 1]):
                gain += c.first[q] * pair_rate(c, g, y, n, q)
            y[i] = wp.cw_div(n[i] + h * gain, one + h * r[START + LOSS, i])
        escape = vector()
        for q in range(c.intervals[c.bins], c.intervals[c.bins + 1]):
            escape += c.first[q] * pair_rate(c, g, y, n, q)
        y[c.bins] = n[c.bins] + h * escape

    return solve


def _relinearise_function(types: LaneTypes, operators: PairOperators) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    rates = operators.rates

    @wp.func
    def relinearise(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
    ):
        rates(c, g, r[STATE], r, START)

    return relinearise


def _step_function(types: LaneTypes, solve: Any) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector

    @wp.func
    def step(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        result: wp.array(dtype=vector),
    ):
        solve(c, g, h, r, w)
        peak = vector()
        for i in range(c.bins):
            result[i] = r[INTERMEDIATE, i]
            peak = wp.max(peak, r[START + LOSS, i])
        result[c.bins] = r[INTERMEDIATE, c.bins]
        return peak

    return step


def _step_back_function(types: LaneTypes, operators: PairOperators) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    one = types.vector(1.0)
    transposed = operators.transposed
    pair_scale = operators.pair_scale

    @wp.func
    def step_back(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
    ):
        n = r[STATE]
        y = r[INTERMEDIATE]
        a = w[COTANGENT]
        b = w[STAGE_COTANGENT]
        pulled = w[PULLED]
        for i in range(c.bins):
            b[i] = a[i]
            pulled[i] = vector()
            w[GROWTH_WEIGHTED, i] = vector()
        for back in range(c.bins + 1):
            i = c.bins - back
            u = a[i]
            if i < c.bins:
                u = wp.cw_div(b[i], one + h * r[START + LOSS, i])
                pulled[i] = pulled[i] + u
                w[LOSS_WEIGHTED, i] = -h * wp.cw_mul(u, y[i])
            for q in range(c.intervals[i], c.intervals[i + 1]):
                z = pair_scale(c, g, q, (h * c.first[q]) * u)
                j = c.larger[q]
                k = c.smaller[q]
                b[j] = b[j] + wp.cw_mul(z, n[k])
                pulled[k] = pulled[k] + wp.cw_mul(z, y[j])
        transposed(c, g, w)
        for i in range(c.bins):
            a[i] = pulled[i]

    return step_back
