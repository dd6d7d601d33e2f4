"""Exact means of the coagulation process with finitely many particles, which differ from Smoluchowski's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from retrograde.aerosol._checks import check_not_negative, check_positive

Floats = NDArray[np.float64]


def constant_counts(particles: Any, progress: float) -> Floats:
    """Mean number of particles left under the constant kernel [1], shape of `particles`.

    E[n(t)] = sum_{i=1}^{n} (2 i - 1) n_[i] / n_(i) exp(-i (i - 1) s / 2), with falling and rising
    factorials n_[i] and n_(i): the number of lineages of Kingman's coalescent. All terms are positive.

    Args:
        particles: Particles n at the start, whole numbers [1].
        progress: s = K t / V, kernel times time over the box's volume of air [1].

    Source: Tavare (1984), Theoretical Population Biology 26, 119, doi:10.1016/0040-5809(84)90027-3.
    """
    check_not_negative("progress", progress, "1")
    counts = np.asarray(particles)
    if not ((counts >= 0).all() and (counts == np.floor(counts)).all()):
        raise ValueError("particles [1]: expected whole numbers, none negative")
    return np.array([_lineages(int(n), progress) for n in counts.reshape(-1)]).reshape(counts.shape)


def additive_counts(particles: Any, volume: Any, progress: float) -> Floats:
    """Mean number of particles left under the additive kernel b (v + w) [1].

    All pairs together merge at b M (n - 1) / V, M the volume of all particles, which is kept; so
    E[n(t)] = 1 + (n - 1) exp(-b M t / V).

    Args:
        particles: Particles n at the start, one at least [1].
        volume: Volume M of all particles of a box [m^3], broadcast against them.
        progress: b t / V [m^-3].
    """
    check_not_negative("progress", progress, "1")
    counts = np.asarray(particles, dtype=np.float64)
    return 1.0 + (counts - 1.0) * np.exp(-progress * np.asarray(volume, dtype=np.float64))


def product_counts(particles: int, pair_progress: float) -> float:
    """Mean number of particles left of equal ones under the product kernel [1].

    The mean number of components of a random graph; see `product_number`.

    Args:
        particles: Particles at the start [1].
        pair_progress: s = b v^2 t / V [1].
    """
    check_positive("pair_progress", pair_progress, "1")
    return float(_components(int(particles), pair_progress)[int(particles)])


def _poisson(n: NDArray[np.int64], mean: float) -> Floats:
    """Probabilities of the counts n."""
    return np.exp(n * np.log(mean) - mean - np.asarray(gammaln(n + 1.0), dtype=np.float64))


def _lineages(n: int, progress: float) -> float:
    i = np.arange(1.0, n + 1.0)
    logs = 2.0 * gammaln(n + 1.0) - gammaln(n - i + 1.0) - gammaln(n + i)
    # n_[i] / n_(i) = n! (n - 1)! / ((n - i)! (n + i - 1)!)
    logs -= np.log(n) if n else 0.0
    return float(np.sum((2.0 * i - 1.0) * np.exp(logs - 0.5 * i * (i - 1.0) * progress)))


@dataclass(frozen=True, eq=False)
class PoissonMeans:
    """Exact means over boxes whose bins hold independent Poisson numbers of particles.

    Gradients are with respect to the intensities, the bins' expected numbers of particles, and to
    the logarithms of the bins' volumes.

    Attributes:
        value: Mean over boxes.
        by_intensity: Derivatives with respect to the intensities, shape [bins].
        by_log_volume: Derivatives with respect to the logarithms of the volumes, shape [bins].
    """

    value: float
    by_intensity: Floats
    by_log_volume: Floats


def constant_number(intensity: Any, progress: float) -> PoissonMeans:
    """Mean number of particles in a box under the constant kernel [1].

    Args:
        intensity: Expected numbers of particles, shape [bins].
        progress: s = K t / V [1].
    """
    rates = np.asarray(intensity, dtype=np.float64)
    total = float(rates.sum())
    n = np.arange(int(total + 12.0 * np.sqrt(total) + 30.0))
    weights = _poisson(n, total)
    means = constant_counts(np.arange(len(n) + 1), progress)
    slope = float(weights @ np.diff(means))
    return PoissonMeans(float(weights @ means[:-1]), np.full_like(rates, slope), np.zeros_like(rates))


def constant_square(intensity: Any, volumes: Any, progress: float) -> PoissonMeans:
    """Mean sum of squared particle volumes in a box under the constant kernel [m^6].

    d/ds E[S2] = E[M^2 - S2], with the total volume M of the box kept; so
    E[S2] = A2 + (1 - exp(-s)) A1^2 with the sums A_p of intensity times volume^p.
    """
    rates, v = np.asarray(intensity, dtype=np.float64), np.asarray(volumes, dtype=np.float64)
    grown = -float(np.expm1(-progress))
    first, second = float(rates @ v), float(rates @ v**2)
    return PoissonMeans(
        second + grown * first**2,
        v**2 + 2.0 * grown * first * v,
        2.0 * rates * v**2 + 2.0 * grown * first * rates * v,
    )


def additive_number(intensity: Any, volumes: Any, progress: float) -> PoissonMeans:
    """Mean number of particles in a box under the additive kernel b (v + w) [1].

    A box of n particles and volume M loses them at b M (n - 1) / V: E[n(t)] = 1 + (n - 1) exp(-c M)
    with c = b t / V, whose mean over Poisson numbers is 1 + G (sum_b lam_b exp(-c v_b) - 1), with
    G = exp(sum_b lam_b (exp(-c v_b) - 1)).

    Args:
        intensity: Expected numbers of particles lam, shape [bins].
        volumes: Particle volumes v [m^3], shape [bins].
        progress: c = b t / V [m^-3].
    """
    rates, v = np.asarray(intensity, dtype=np.float64), np.asarray(volumes, dtype=np.float64)
    shrunk = np.exp(-progress * v)
    common = float(np.exp(rates @ np.expm1(-progress * v)))
    left = float(rates @ shrunk) - 1.0
    by_intensity = common * (np.expm1(-progress * v) * left + shrunk)
    by_volume = common * -progress * rates * shrunk * (left + 1.0)
    return PoissonMeans(1.0 + common * left, by_intensity, by_volume * v)


def product_number(intensity: float, pair_progress: float) -> PoissonMeans:
    """Mean number of particles in a box under the product kernel, all equal at the start [1].

    Two initial particles belong together once they are connected in a random graph whose edges are
    there with probability 1 - exp(-s), s = b v^2 t / V; particles are its components.

    Args:
        intensity: Expected number of particles; the work grows with its square [1].
        pair_progress: s = b v^2 t / V [1].

    Source: Aldous (1999), Bernoulli 5, 3, doi:10.2307/3318611; Mallows and Riordan (1968), Bulletin of the
    American Mathematical Society 74, 92, doi:10.1090/S0002-9904-1968-11888-9, for the connected graphs.
    """
    check_positive("intensity", intensity, "1")
    check_positive("pair_progress", pair_progress, "1")
    n = np.arange(int(intensity + 12.0 * np.sqrt(intensity) + 30.0))
    means = _components(len(n), pair_progress)
    slopes = _components_by_progress(len(n), pair_progress)
    weights = _poisson(n, intensity)
    return PoissonMeans(
        float(weights @ means[:-1]),
        np.array([weights @ np.diff(means)]),
        np.array([2.0 * pair_progress * float(weights @ slopes[:-1])]),
    )


def _components(largest: int, s: float) -> Floats:
    """Mean number of components of random graphs of 0 to `largest` vertices, shape [largest + 1]."""
    connected = _log_connected(largest, s)
    means = np.zeros(largest + 1)
    for n in range(1, largest + 1):
        k = np.arange(1.0, n + 1.0)
        logs = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0) - s * k * (n - k)
        means[n] = float(np.exp(logs + connected[1 : n + 1]).sum())
    return means


def _log_connected(largest: int, s: float) -> Floats:
    """Logarithm of the chance that a random graph of k vertices is connected, shape [largest + 1].

    It is exp(-s k (k - 1) / 2) (e^s - 1)^(k - 1) I_k(e^s), with the polynomials I_k of Mallows and Riordan:
    I_k(x) = sum_i C(k - 2, i - 1) (1 + x + ... + x^(i - 1)) I_i(x) I_(k - i)(x), a sum of positive terms.
    """
    logs = np.zeros(largest + 1)
    i = np.arange(1.0, largest + 1.0)
    powers = i * s + np.log(-np.expm1(-i * s)) - np.log(np.expm1(s))
    for k in range(2, largest + 1):
        j = i[: k - 1]
        terms = gammaln(k - 1.0) - gammaln(j) - gammaln(k - j) + powers[: k - 1] + logs[1:k] + logs[k - 1 : 0 : -1]
        logs[k] = terms.max() + np.log(np.exp(terms - terms.max()).sum())
    k = np.arange(largest + 1.0)
    result = logs + (k - 1.0) * np.log(np.expm1(s)) - 0.5 * s * k * (k - 1.0)
    result[:2] = 0.0
    return result


def _components_by_progress(largest: int, s: float) -> Floats:
    """Derivative of `_components` with respect to the progress, by differences of fourth order."""
    h = 1e-3 * s
    moved = [_components(largest, s + k * h) for k in (-2, -1, 1, 2)]
    return (moved[0] - 8.0 * moved[1] + 8.0 * moved[2] - moved[3]) / (12.0 * h)
