"""k-mers against Smoluchowski's discrete equation, and the exact mixing state against counting clusters."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from retrograde.aerosol.exact import additive_kmers, constant_kmers, mixing_state_index, product_kmers

LARGEST = 120
SIZES = np.arange(1, LARGEST + 1, dtype=np.float64)
KMERS = {"constant": constant_kmers, "additive": additive_kmers, "product": product_kmers}
KERNELS = {
    "constant": np.ones((LARGEST, LARGEST)),
    "additive": SIZES[:, None] + SIZES[None, :],
    "product": SIZES[:, None] * SIZES[None, :],
}
TABLE = [
    ("constant", 1.0, 0.265799, 0.252503),
    ("constant", 2.0, 0.427678, 0.401812),
    ("constant", 10.0, 0.807488, 0.772224),
    ("additive", 0.5, 0.322755, 0.308865),
    ("additive", 1.0, 0.566950, 0.546208),
    ("additive", 2.0, 0.834331, 0.821509),
    ("product", 0.25, 0.091838, None),
    ("product", 0.5, 0.193794, None),
    ("product", 0.75, 0.304768, None),
]


def total_of(name: str, numbers: np.ndarray) -> np.ndarray:
    """Rate at which each size meets all sizes, the largest ones beyond the array by their exact moments."""
    total_mass = 1.0
    others = {
        "constant": numbers.sum(),
        "additive": SIZES * numbers.sum() + total_mass,
        "product": SIZES * total_mass,
    }
    return others[name] * np.ones(LARGEST)


@pytest.mark.parametrize(("name", "time"), [("constant", 1.5), ("additive", 0.6), ("product", 0.5)])
def test_kmers_solve_the_discrete_coagulation_equation(name, time):
    kernel = KERNELS[name]

    def slope(_, n):
        merged = np.zeros(LARGEST)
        pairs = 0.5 * kernel * np.outer(n, n)
        for k in range(2, LARGEST + 1):
            merged[k - 1] = np.trace(pairs[:, ::-1], offset=LARGEST - k + 1)
        return merged - n * total_of(name, n)

    run = solve_ivp(slope, (0, time), np.eye(LARGEST)[0], rtol=1e-9, atol=1e-12, method="DOP853")
    exact = KMERS[name](SIZES, time)
    assert exact[60:].sum() < 1e-6
    np.testing.assert_allclose(run.y[:40, -1], exact[:40], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("name", "time"), [("constant", 4.0), ("additive", 1.2), ("product", 0.8)])
def test_kmers_hold_all_the_mass(name, time):
    sizes = np.arange(1, 4000, dtype=np.float64)
    assert sizes @ KMERS[name](sizes, time) == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize("name", KMERS)
def test_kmers_start_as_single_particles(name):
    assert np.array_equal(KMERS[name](SIZES, 0.0), np.eye(LARGEST)[0])


@pytest.mark.parametrize(("name", "time", "even", "uneven"), TABLE)
def test_mixing_state_has_the_tabulated_values(name, time, even, uneven):
    assert mixing_state_index(lambda k: KMERS[name](k, time), [0.5, 0.5]) == pytest.approx(even, abs=6e-7)
    if uneven is not None:
        assert mixing_state_index(lambda k: KMERS[name](k, time), [0.2, 0.8]) == pytest.approx(uneven, abs=6e-7)


def test_mixing_state_is_that_of_clusters_counted_one_by_one():
    """Every cluster's diversity by its definition, on clusters grown by random mergers under the constant kernel."""
    rng = np.random.default_rng(5)
    particles = 40_000
    clusters = np.zeros((particles, 3))
    clusters[np.arange(particles), rng.choice(3, size=particles, p=[0.5, 0.3, 0.2])] = 1.0
    alive = particles
    tau = 2.0
    while alive > particles / (1 + tau / 2):
        i, j = rng.choice(alive, size=2, replace=False)
        clusters[i] += clusters[j]
        clusters[j] = clusters[alive - 1]
        alive -= 1
    clusters = clusters[:alive]
    mass = clusters.sum(axis=1)
    share = clusters / mass[:, None]
    entropy = -np.sum(np.where(share > 0, share * np.log(np.where(share > 0, share, 1.0)), 0.0), axis=1)
    bulk = clusters.sum(axis=0) / mass.sum()
    counted = np.expm1(mass @ entropy / mass.sum()) / np.expm1(-np.sum(bulk * np.log(bulk)))
    exact = mixing_state_index(lambda k: constant_kmers(k, tau), [0.5, 0.3, 0.2])
    assert counted == pytest.approx(exact, abs=0.01)


def test_external_mixture_has_index_zero():
    assert mixing_state_index(lambda k: constant_kmers(k, 0.0), [0.3, 0.7]) == 0.0


def test_a_missing_species_changes_nothing():
    with_none = mixing_state_index(lambda k: constant_kmers(k, 1.0), [0.5, 0.0, 0.5])
    assert with_none == mixing_state_index(lambda k: constant_kmers(k, 1.0), [0.5, 0.5])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mixing_state_index(lambda k: constant_kmers(k, 1.0), [1.0]), "single species"),
        (lambda: mixing_state_index(lambda k: constant_kmers(k, 1.0), [0.4, 0.4]), "summing to 1"),
        (lambda: mixing_state_index(lambda k: product_kmers(k, 0.9999), [0.5, 0.5]), "of the mass"),
        (lambda: product_kmers(SIZES, 1.0), "gelling"),
        (lambda: constant_kmers([0.0], 1.0), r"sizes \[1\]"),
        (lambda: additive_kmers([1.5], 1.0), r"sizes \[1\]"),
        (lambda: constant_kmers(SIZES, -1.0), r"tau \[1\]"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
