"""Exact size distributions against the coagulation equation itself, and their moments against quadrature."""

from itertools import pairwise
from math import factorial

import numpy as np
import pytest
from scipy.integrate import quad

from retrograde.aerosol.exact import (
    AdditiveSolution,
    ConstantGrowthSolution,
    ConstantSolution,
    DilutedSolution,
    ProductSolution,
)

N0, V0 = 3.0e10, 2.0e-21
UNIT_TIME = {"constant": 1 / (1e-15 * N0), "additive": 1 / (0.5 * N0 * V0), "product": 1 / (1e18 * N0 * V0**2)}
CONSTANT, ADDITIVE, PRODUCT = (
    ConstantSolution(1e-15, N0, V0),
    AdditiveSolution(0.5, N0, V0),
    ProductSolution(1e18, N0, V0),
)

CASES = {
    "constant": (CONSTANT, lambda v, w: 1e-15, 0.0, 0.0, 3.0 * UNIT_TIME["constant"]),
    "growth": (
        ConstantGrowthSolution(1e-15, 1e-5, N0, V0),
        lambda v, w: 1e-15,
        1e-5,
        0.0,
        2.0 * UNIT_TIME["constant"],
    ),
    "evaporation": (
        ConstantGrowthSolution(1e-15, -2e-5, N0, V0),
        lambda v, w: 1e-15,
        -2e-5,
        0.0,
        1.0 * UNIT_TIME["constant"],
    ),
    "additive": (ADDITIVE, lambda v, w: 0.5 * (v + w), 0.0, 0.0, 1.0 * UNIT_TIME["additive"]),
    "product": (PRODUCT, lambda v, w: 1e18 * v * w, 0.0, 0.0, 0.3 * UNIT_TIME["product"]),
    "diluted": (
        DilutedSolution(ADDITIVE, 1e-11),
        lambda v, w: 0.5 * (v + w),
        0.0,
        1e-11,
        1.0 * UNIT_TIME["additive"],
    ),
}


def kernel_integrals(solution, kernel, volume, time):
    """Gain and loss of Smoluchowski's equation at one volume, by quadrature."""
    points = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 5) * volume])

    def gain(w):
        n = solution.number_density(np.array([w, volume - w]), time)
        return kernel(w, volume - w) * n[0] * n[1]

    def loss(w):
        return kernel(volume, w) * float(solution.number_density(np.array([w]), time)[0])

    mean = solution.total_volume(time) / solution.total_number(time)
    edges = np.concatenate([[0.0], np.geomspace(1e-3, 300.0, 14)]) * mean
    half_gain = 0.5 * sum(quad(gain, a, b, epsrel=1e-11, epsabs=0.0)[0] for a, b in pairwise(points))
    far_loss = sum(quad(loss, a, b, epsrel=1e-10, epsabs=1e-300)[0] for a, b in pairwise(edges))
    return half_gain, far_loss * float(solution.number_density(np.array([volume]), time)[0])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("x", [0.05, 0.7, 2.0, 9.0])
def test_density_solves_the_coagulation_equation(name, x):
    """dn/dt + d(s v n)/dv + rate n = gain - loss, every term computed on its own."""
    solution, kernel, growth, dilution, time = CASES[name]
    volume = x * V0
    h_t, h_v = 1e-3 * time, 1e-3 * volume

    def n(v, t):
        return float(solution.number_density(np.array([v]), t)[0])

    stencil = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
    in_time = sum(c * n(volume, time + k * h_t) for k, c in stencil) / h_t
    flux = growth * sum(c * (volume + k * h_v) * n(volume + k * h_v, time) for k, c in stencil) / h_v
    gain, loss = kernel_integrals(solution, kernel, volume, time)
    scale = gain + loss + abs(flux) + abs(in_time)
    assert abs(in_time + flux + dilution * n(volume, time) - gain + loss) <= 1e-8 * scale


@pytest.mark.parametrize("name", CASES)
def test_density_starts_exponential(name):
    solution = CASES[name][0]
    v = np.geomspace(1e-3, 50.0, 40) * V0
    np.testing.assert_allclose(solution.number_density(v, 0.0), N0 / V0 * np.exp(-v / V0), rtol=1e-13)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 0.5, 3.0])
def test_moments_are_integrals_of_the_density(name, order):
    solution, _, _, _, time = CASES[name]
    edges = np.geomspace(1e-14, 4e3, 60) * V0
    by_bins = solution.bin_moments(order, edges, time)
    assert by_bins.sum() == pytest.approx(solution.moment(order, time), rel=1e-11)
    i = 45
    one_bin = quad(
        lambda v: v**order * float(solution.number_density(np.array([v]), time)[0]),
        edges[i],
        edges[i + 1],
        epsrel=1e-12,
        epsabs=0.0,
    )[0]
    assert by_bins[i] == pytest.approx(one_bin, rel=1e-11)


@pytest.mark.parametrize(("name", "times"), [("additive", (1e-6, 3.0)), ("product", (1e-6, 0.49))])
def test_series_of_other_orders_joins_the_closed_forms(name, times):
    """Moments are continuous in the order."""
    solution = CASES[name][0]
    for t in times:
        time = t * UNIT_TIME[name]
        for order in (0.0, 1.0, 2.0):
            if t > 0.4 and order == 2.0 and name == "product":
                continue
            near = solution.moment(order + 1e-9, time) / (V0 ** (order + 1e-9))
            assert near == pytest.approx(solution.moment(order, time) / V0**order, rel=1e-6)


def test_additive_density_is_accurate_far_out_and_near_the_start():
    """The Bessel form equals its own power series where that converges fast."""
    time = 1e-9 * UNIT_TIME["additive"]
    v = np.geomspace(1e-6, 30.0, 30) * V0
    x, t = v / V0, -np.expm1(-1e-9)
    series = sum((x * x * t) ** j / (factorial(j) * factorial(j + 1)) for j in range(12))
    np.testing.assert_allclose(
        ADDITIVE.number_density(v, time), N0 / V0 * (1 - t) * np.exp(-(1 + t) * x) * series, rtol=1e-13
    )


def test_gelling_is_refused_and_its_time_known():
    assert PRODUCT.gelling_time == pytest.approx(0.5 * UNIT_TIME["product"])
    with pytest.raises(ValueError, match=r"time \[s\].*before gelling"):
        PRODUCT.number_density(np.array([V0]), PRODUCT.gelling_time)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantSolution(0.0, N0, V0), r"rate \[m\^3 s\^-1\]"),
        (lambda: AdditiveSolution(0.5, -N0, V0), r"number \[m\^-3\]"),
        (lambda: ProductSolution(1.0, N0, 0.0), r"mean_volume \[m\^3\]"),
        (lambda: CONSTANT.moment(0, -1.0), r"time \[s\]"),
        (lambda: DilutedSolution(CONSTANT, 0.0), r"rate \[s\^-1\]"),
        (lambda: DilutedSolution(ConstantGrowthSolution(1.0, 1.0, 1.0, 1.0), 1.0), "growth keeps its own time"),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
