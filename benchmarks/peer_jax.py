"""The fixed pivot technique with Heun's method in JAX: jit, scan and checkpoint, double precision.

Two formulations of one tendency. `pairs` multiplies the list of all pairs by a matrix, as sectional
models are usually written for array libraries. `matrices` is the formulation of this project, two
kernel-matrix products and a short list of pairs, given to JAX as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

jax.config.update("jax_enable_x64", True)

Floats = NDArray[np.float64]
Tendency = Callable[[Any], Any]


@dataclass(frozen=True)
class JaxSimulation:
    """Compiled functions of numbers [m^-3] of shape [boxes, bins].

    Attributes:
        forward: Numbers after all steps.
        gradient: Gradient of the sum of squares of those numbers.
    """

    forward: Callable[[Any], Any]
    gradient: Callable[[Any], Any]


def jax_simulation(formulation: str, volumes: Floats, kernel: Floats, step: float, steps: int) -> JaxSimulation:
    """Simulation by the formulation `pairs` or `matrices`."""
    tendency = tendency_of(formulation, volumes, kernel)

    @jax.checkpoint
    def heun(number: Any) -> Any:
        change = tendency(number)
        stage = number + step * change
        return 0.5 * (number + stage + step * tendency(stage))

    def run(number: Any) -> Any:
        return jax.lax.scan(lambda n, _: (heun(n), None), number, None, length=steps)[0]

    return JaxSimulation(
        forward=jax.jit(run),
        gradient=jax.jit(jax.grad(lambda number: jnp.sum(run(number) ** 2))),
    )


def tendency_of(formulation: str, volumes: Floats, kernel: Floats) -> Tendency:
    """Tendency of numbers by the formulation `pairs` or `matrices`."""
    return _by_pairs(volumes, kernel) if formulation == "pairs" else _by_matrices(volumes, kernel)


def _events(volumes: Floats) -> tuple[Any, Any, Any, Any, Any]:
    """All pairs, the interval of their product, the share of its upper pivot, and their multiplicity."""
    bins = len(volumes)
    pivots = np.append(volumes, volumes[-1] ** 2 / volumes[-2])
    j, k = np.tril_indices(bins)
    product = volumes[j] + volumes[k]
    cell = np.searchsorted(pivots * (1.0 - 1e-12), product, side="right") - 1
    inside = np.minimum(cell, bins - 1)
    share = (product - pivots[inside]) / (pivots[inside + 1] - pivots[inside])
    return j, k, cell, share, np.where(j == k, 0.5, 1.0)


def _gains(bins: int, cell: Any, share: Any, rate: Any) -> Floats:
    """Matrix of what one event of each pair adds to each bin, shape [pairs, bins]."""
    matrix = np.zeros((len(cell), bins + 2))
    pair = np.arange(len(cell))
    inside = cell < bins
    matrix[pair[inside], cell[inside]] += (rate * (1.0 - share))[inside]
    matrix[pair[inside], cell[inside] + 1] += (rate * share)[inside]
    return matrix[:, :bins]


def _by_pairs(volumes: Floats, kernel: Floats) -> Tendency:
    bins = len(volumes)
    j, k, cell, share, events = _events(volumes)
    rate = kernel[j, k] * events
    matrix = _gains(bins, cell, share, rate)
    np.add.at(matrix, (np.arange(len(j)), j), -rate)
    np.add.at(matrix, (np.arange(len(j)), k), -rate)
    matrix, j, k = jnp.asarray(matrix), jnp.asarray(j), jnp.asarray(k)
    return lambda number: (number[:, j] * number[:, k]) @ matrix


def _by_matrices(volumes: Floats, kernel: Floats) -> Tendency:
    bins = len(volumes)
    j, k, cell, share, events = _events(volumes)
    bulk = (cell == j) & (j != k)
    growth, loss = np.zeros((bins, bins)), kernel.copy()
    growth[j[bulk], k[bulk]] = kernel[j, k][bulk] * share[bulk]
    loss[j[bulk], k[bulk]] = 0.0
    both = jnp.asarray(np.concatenate([growth, loss]).T)
    band = ~bulk & (cell < bins)
    gains = jnp.asarray(_gains(bins, cell, share, kernel[j, k] * events)[band])
    larger, smaller = jnp.asarray(j[band]), jnp.asarray(k[band])

    def tendency(number: Any) -> Any:
        rates = number @ both
        upward = number * rates[:, :bins]
        arrived = jnp.pad(upward[:, :-1], ((0, 0), (1, 0)))
        return (number[:, larger] * number[:, smaller]) @ gains + arrived - upward - number * rates[:, bins:]

    return tendency
