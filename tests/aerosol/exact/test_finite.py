"""Exact means of finitely many particles, against their master equations and differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import expm

from retrograde.aerosol.exact.finite import (
    additive_counts,
    additive_number,
    constant_counts,
    constant_number,
    constant_square,
    product_counts,
    product_number,
)


def means_over_partitions(sizes: tuple[float, ...], rate, time: float, value) -> float:
    """The mean of a function of the particles, by the master equation over all that can become of a few."""
    states, places = [tuple(sorted(sizes))], {tuple(sorted(sizes)): 0}
    moves: list[tuple[int, int, float]] = []
    for state in states:
        for i, j in combinations(range(len(state)), 2):
            rest = [v for k, v in enumerate(state) if k not in (i, j)]
            after = tuple(sorted([*rest, state[i] + state[j]]))
            if after not in places:
                places[after] = len(states)
                states.append(after)
            moves.append((places[state], places[after], rate(state[i], state[j])))
    generator = np.zeros((len(states), len(states)))
    for a, b, r in moves:
        generator[a, b] += r
        generator[a, a] -= r
    return float(expm(time * generator)[0] @ [value(np.array(s)) for s in states])


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_constant_counts_are_those_of_the_master_equation(n):
    expected = means_over_partitions((1.0,) * n, lambda v, w: 1.0, 0.7, len) if n else 0.0
    assert constant_counts(n, 0.7) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_additive_and_product_counts_are_those_of_the_master_equation(n):
    expected = means_over_partitions((2.0,) * n, lambda v, w: v + w, 0.15, len)
    assert additive_counts(n, 2.0 * n, 0.15) == pytest.approx(expected, rel=1e-12)
    expected = means_over_partitions((2.0,) * n, lambda v, w: v * w, 0.15, len)
    assert product_counts(n, 0.6) == pytest.approx(expected, rel=1e-12)


def poisson_mean(intensity, volumes, rate, time, value, largest=5):
    """The mean over Poisson numbers in two bins, summed plainly."""
    total = 0.0
    for a in range(largest):
        for b in range(largest):
            sizes = (volumes[0],) * a + (volumes[1],) * b
            weight = np.prod(
                [np.exp(-x) * x**k / float(np.prod(range(1, k + 1))) for x, k in zip(intensity, (a, b), strict=True)]
            )
            total += weight * (means_over_partitions(sizes, rate, time, value) if sizes else value(np.array([])))
    return total


CASES = [
    (lambda lam, v: constant_number(lam, 0.4), lambda v, w: 1.0, 0.4, len),
    (lambda lam, v: constant_square(lam, v, 0.4), lambda v, w: 1.0, 0.4, lambda s: float((s**2).sum())),
    (lambda lam, v: additive_number(lam, v, 0.3), lambda v, w: v + w, 0.3, len),
]


@pytest.mark.parametrize(("exact", "rate", "time", "value"), CASES, ids=["constant", "constant square", "additive"])
def test_means_over_poisson_numbers_and_their_gradients(exact, rate, time, value):
    intensity, volumes = np.array([0.15, 0.1]), np.array([1.0, 2.0])
    found = exact(intensity, volumes)
    assert found.value == pytest.approx(poisson_mean(intensity, volumes, rate, time, value), abs=3e-5)
    for b in range(2):
        e = 1e-5 * np.eye(2)[b]
        by_intensity = (exact(intensity + e, volumes).value - exact(intensity - e, volumes).value) / 2e-5
        assert found.by_intensity[b] == pytest.approx(by_intensity, rel=1e-8)
        by_volume = (exact(intensity, volumes * np.exp(e)).value - exact(intensity, volumes * np.exp(-e)).value) / 2e-5
        assert found.by_log_volume[b] == pytest.approx(by_volume, rel=1e-7, abs=1e-12)


def test_product_kernel_counts_components_of_a_random_graph():
    s = 0.2
    expected = 0.0
    for n in range(1, 7):
        weight = np.exp(-0.5) * 0.5**n / float(np.prod(range(1, n + 1)))
        expected += weight * means_over_partitions((1.0,) * n, lambda v, w: v * w, s, len)
    found = product_number(0.5, s)
    assert found.value == pytest.approx(expected, abs=3e-5)
    slope = (product_number(0.5 + 1e-5, s).value - product_number(0.5 - 1e-5, s).value) / 2e-5
    assert found.by_intensity[0] == pytest.approx(slope, rel=1e-7)
    by_volume = (product_number(0.5, s * np.exp(2e-4)).value - product_number(0.5, s * np.exp(-2e-4)).value) / 2e-4
    assert found.by_log_volume[0] == pytest.approx(by_volume, rel=1e-6)


@pytest.mark.parametrize("n", [30.0, 300.0])
def test_product_kernel_of_many_particles_nears_smoluchowski(n):
    """Half way to gelling: N = N0 (1 - T / 2), and a gap that falls as one over the particles."""
    gaps = [product_number(m, 0.5 / m).value / m / 0.75 - 1.0 for m in (n, 2.0 * n)]
    assert 0.0 < gaps[0] < 0.5 / n
    assert gaps[0] / gaps[1] == pytest.approx(2.0, rel=0.05)


def test_gaps_to_smoluchowski():
    """0.35, 0.59 and 2.0 % at tau 1, 2 and 10 for 100 particles; 0.13 % at tau 1 for Poisson numbers; ~ 1 / n."""
    gaps = [float(constant_counts(100, t / 100)) / 100 * (2 + t) / 2 - 1 for t in (1.0, 2.0, 10.0)]
    np.testing.assert_allclose(gaps, [3.528e-3, 5.857e-3, 2.015e-2], rtol=1e-3)
    assert constant_number([100.0], 0.01).value / 100 * 1.5 - 1 == pytest.approx(1.296e-3, rel=1e-3)
    assert gaps[0] / (float(constant_counts(1000, 1e-3)) / 1000 * 1.5 - 1) == pytest.approx(10.0, rel=0.01)


def test_bad_counts_are_refused():
    with pytest.raises(ValueError, match="whole numbers"):
        constant_counts([1.5], 0.1)
    with pytest.raises(ValueError, match="progress"):
        constant_counts([1], -0.1)
