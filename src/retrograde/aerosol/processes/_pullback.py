"""The transposed Jacobian of a sectional tendency, for any scheme and kernel."""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from dataclasses import dataclass
from typing import Any

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import LaneTypes
from retrograde.aerosol.processes._operators import PairOperators, coefficient_struct
from retrograde.aerosol.processes._slots import (
    GROWTH,
    GROWTH_WEIGHTED,
    LOSS,
    LOSS_WEIGHTED,
    PULLED,
)


@dataclass(frozen=True)
class SchemeFunctions:
    """Warp functions on one group's numbers `n`, cotangents `a`, record `r` and scratch slots `w`.

    A pair's first weight acts on the number of its interval; what its second weight and the bulk
    events act on belongs to the scheme.

    Attributes:
        tendency: `(c, g, n, r, w, base)` fills the linearisation `base` and the slot `TENDENCY`;
            returns the largest rate at which a bin is emptied [s^-1].
        linearise: `(c, g, n, r, w, base)` fills the linearisation `base`.
        second_cotangent: `(c, a, r, w, base, i)` cotangent of interval i's second sum.
        stored_second_cotangent: The same, once `second_cotangent` has been called for every i.
        bulk_cotangent: `(first, second)` cotangent of bin i's bulk events from both sums'.
    """

    tendency: Any
    linearise: Any
    second_cotangent: Any
    stored_second_cotangent: Any
    bulk_cotangent: Any


def pullback_function(types: LaneTypes, operators: PairOperators, scheme: SchemeFunctions) -> Any:
    """Function `(c, g, n, a, r, w, base)`: the transposed Jacobian of the tendency times `a`.

    `base` names the linearisation about `n`; the result is left in the slot `PULLED`.
    """
    coefficients = coefficient_struct(types)
    vector = types.vector
    transposed = operators.transposed
    pair_scale = operators.pair_scale
    second_cotangent = scheme.second_cotangent
    stored_second_cotangent = scheme.stored_second_cotangent
    bulk_cotangent = scheme.bulk_cotangent

    @wp.func
    def add_pair(
        c: coefficients,
        g: int,
        q: int,
        z: vector,
        n: wp.array(dtype=vector),
        pulled: wp.array(dtype=vector),
    ):
        scaled = pair_scale(c, g, q, z)
        j = c.larger[q]
        k = c.smaller[q]
        pulled[j] = pulled[j] + wp.cw_mul(scaled, n[k])
        pulled[k] = pulled[k] + wp.cw_mul(scaled, n[j])

    @wp.func
    def pullback(
        c: coefficients,
        g: int,
        n: wp.array(dtype=vector),
        a: wp.array(dtype=vector),
        r: wp.array(dtype=vector, ndim=2),
        w: wp.array(dtype=vector, ndim=2),
        base: int,
    ):
        pulled = w[PULLED]
        for i in range(c.bins):
            first = a[i]
            bulk = bulk_cotangent(first, second_cotangent(c, a, r, w, base, i))
            w[GROWTH_WEIGHTED, i] = wp.cw_mul(n[i], bulk)
            w[LOSS_WEIGHTED, i] = -wp.cw_mul(n[i], first)
            pulled[i] = wp.cw_mul(r[base + GROWTH, i], bulk) - wp.cw_mul(r[base + LOSS, i], first)
        transposed(c, g, w)
        pulled[c.bins] = vector()
        for i in range(c.bins):
            first = a[i]
            second = stored_second_cotangent(c, a, r, w, base, i)
            for q in range(c.intervals[i], c.intervals[i + 1]):
                add_pair(c, g, q, c.first[q] * first + c.second[q] * second, n, pulled)
        for q in range(c.intervals[c.bins], c.intervals[c.bins + 1]):
            add_pair(c, g, q, c.first[q] * a[c.bins], n, pulled)

    return pullback
