"""Moments and their exact gradients: against the moment equations, differences and the solutions."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from retrograde.aerosol.exact import (
    AdditiveMoments,
    AdditiveSolution,
    ConstantMoments,
    ConstantSolution,
    DilutedMoments,
    Moments,
    ProductMoments,
    ProductSolution,
)

VOLUMES = np.array([0.2, 0.9, 1.7, 4.0])
NUMBER = np.array([0.8, 1.1, 0.3, 0.05])
START = Moments.of(NUMBER, VOLUMES)
SLOPES = {
    "constant": (ConstantMoments(1.3), lambda m: [-0.65 * m[0] ** 2, 0.0, 1.3 * m[1] ** 2]),
    "additive": (AdditiveMoments(0.7), lambda m: [-0.7 * m[0] * m[1], 0.0, 1.4 * m[1] * m[2]]),
    "product": (ProductMoments(0.1), lambda m: [-0.05 * m[1] ** 2, 0.0, 0.1 * m[2] ** 2]),
    "diluted": (
        DilutedMoments(AdditiveMoments(0.7), 0.4),
        lambda m: [-0.7 * m[0] * m[1] - 0.4 * m[0], -0.4 * m[1], 1.4 * m[1] * m[2] - 0.4 * m[2]],
    ),
}
TIME = 1.2


def as_array(moments: Moments) -> np.ndarray:
    return np.array([moments.zeroth, moments.first, moments.second])


@pytest.mark.parametrize("name", SLOPES)
def test_moments_solve_the_moment_equations(name):
    evolution, slope = SLOPES[name]
    run = solve_ivp(lambda _, m: slope(m), (0, TIME), as_array(START), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(as_array(evolution.moments(START, TIME)), run.y[:, -1], rtol=1e-9)


def test_moment_equations_are_those_of_the_discrete_coagulation_equation():
    """The slopes above, from the pairs themselves: every merger takes one, and adds 2 v w to M2."""
    v, w = VOLUMES[:, None], VOLUMES[None, :]
    kernels = {"constant": 1.3 + 0 * (v + w), "additive": 0.7 * (v + w), "product": 0.1 * v * w}
    for name, kernel in kernels.items():
        rate = 0.5 * kernel * NUMBER[:, None] * NUMBER[None, :]
        expected = [-rate.sum(), 0.0, (rate * 2 * v * w).sum()]
        np.testing.assert_allclose(SLOPES[name][1](as_array(START)), expected, rtol=1e-13)


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_are_differences_of_the_moments(name):
    evolution = SLOPES[name][0]
    gradients = evolution.gradients(START, VOLUMES, TIME)
    h = 1e-3
    for i in range(4):
        moved = [
            as_array(evolution.moments(Moments.of(NUMBER + k * h * np.eye(4)[i], VOLUMES), TIME))
            for k in (-2, -1, 1, 2)
        ]
        difference = (moved[0] - 8 * moved[1] + 8 * moved[2] - moved[3]) / (12 * h)
        found = [gradients.zeroth[i], gradients.first[i], gradients.second[i]]
        np.testing.assert_allclose(found, difference, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("solution", "evolution", "time"),
    [
        (ConstantSolution(1.0, 1.0, 1.0), ConstantMoments(1.0), 2.0),
        (AdditiveSolution(1.0, 1.0, 1.0), AdditiveMoments(1.0), 1.0),
        (ProductSolution(1.0, 1.0, 1.0), ProductMoments(1.0), 0.4),
    ],
)
def test_solutions_have_these_moments(solution, evolution, time):
    start = Moments(*(solution.moment(k, 0.0) for k in (0, 1, 2)))
    found = [solution.moment(k, time) for k in (0, 1, 2)]
    np.testing.assert_allclose(found, as_array(evolution.moments(start, time)), rtol=1e-13)


def test_gelling_is_refused():
    evolution = ProductMoments(1.0)
    with pytest.raises(ValueError, match="gelling"):
        evolution.gradients(START, VOLUMES, 1.01 * evolution.gelling_time(START))
