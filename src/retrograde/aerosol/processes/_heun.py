"""Heun's method on groups of boxes."""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from typing import Any

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import LaneTypes
from retrograde.aerosol.processes._operators import coefficient_struct
from retrograde.aerosol.processes._pullback import SchemeFunctions
from retrograde.aerosol.processes._slots import (
    COTANGENT,
    INTERMEDIATE,
    PULLED,
    STAGE,
    STAGE_COTANGENT,
    START,
    STATE,
    TENDENCY,
)
from retrograde.aerosol.processes._stepping import StepFunctions


def heun_functions(types: LaneTypes, scheme: SchemeFunctions, pullback: Any) -> StepFunctions:
    """One step of Heun's method in its strong-stability-preserving form, and its transpose.

    y = n + h f(n); n' = (n + y + h f(y)) / 2. Shu and Osher (1988),
    doi:10.1016/0021-9991(88)90177-5: positive wherever both Euler steps are.
    """
    linearise, relinearise = _linearise_functions(types, scheme)
    return StepFunctions(
        step=_step_function(types, scheme.tendency),
        linearise=linearise,
        relinearise=relinearise,
        step_back=_step_back_function(types, pullback),
    )


def _step_function(types: LaneTypes, tendency: Any) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    half = types.real(0.5)

    @wp.func
    def step(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        result: wp.array(dtype=vector),
    ):
        n = r[STATE]
        y = r[INTERMEDIATE]
        peak = tendency(c, g, n, r, w, START)
        for i in range(c.bins + 1):
            y[i] = n[i] + h * w[TENDENCY, i]
        peak = wp.max(peak, tendency(c, g, y, r, w, STAGE))
        for i in range(c.bins + 1):
            result[i] = half * ((n[i] + y[i]) + h * w[TENDENCY, i])
        return peak

    return step


def _linearise_functions(types: LaneTypes, scheme: SchemeFunctions) -> tuple[Any, Any]:
    """The record from the state alone, and from the intermediate state too."""
    coefficients = coefficient_struct(types)
    vector = types.vector
    tendency = scheme.tendency
    linearise_tendency = scheme.linearise

    @wp.func
    def linearise(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
    ):
        n = r[STATE]
        y = r[INTERMEDIATE]
        tendency(c, g, n, r, w, START)
        for i in range(c.bins):
            y[i] = n[i] + h * w[TENDENCY, i]
        linearise_tendency(c, g, y, r, w, STAGE)

    @wp.func
    def relinearise(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
    ):
        linearise_tendency(c, g, r[STATE], r, w, START)
        linearise_tendency(c, g, r[INTERMEDIATE], r, w, STAGE)

    return linearise, relinearise


def _step_back_function(types: LaneTypes, pullback: Any) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    half = types.real(0.5)

    @wp.func
    def step_back(
        c: coefficients,
        g: int,
        h: types.real,
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
    ):
        a = w[COTANGENT]
        b = w[STAGE_COTANGENT]
        pulled = w[PULLED]
        pullback(c, g, r[INTERMEDIATE], a, r, w, STAGE)
        for i in range(c.bins + 1):
            b[i] = half * (a[i] + h * pulled[i])
        pullback(c, g, r[STATE], b, r, w, START)
        for i in range(c.bins + 1):
            a[i] = half * a[i] + b[i] + h * pulled[i]

    return step_back
