"""The inversions of `benchmarks.inversions` in JAX: jit, vmap, double precision, both cores if there are two.

The same trajectory (Heun's method through the same times, the formulation `matrices` of `peer_jax`), objective and
prior. Levenberg and Marquardt's method with Nielsen's damping, all boxes in one compiled step, as many
steps as the slowest box needs; Jacobians by forward mode (`jacfwd`), of which the simulation has one tangent a knot.

A process of its own: reads a problem and writes what it found and how long it took.

    python -m benchmarks.peer_jax_inversion PROBLEM.npz RESULT.npz
"""

from __future__ import annotations

import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.peer_jax import tendency_of

MOST = 60
GRADIENT, STEP, OBJECTIVE = 1e-6, 1e-7, 1e-9  # this project's tolerances


def prediction(a: dict[str, Any], formulation: str) -> Any:
    """Whitened predictions of one box's unknowns."""
    tendency = tendency_of(formulation, a["volumes"], a["kernel"])
    basis, widths, intervals = jnp.asarray(a["basis"]), jnp.asarray(a["widths"]), jnp.asarray(np.diff(a["times"]))
    seen = jnp.asarray(a["whitening"] @ a["last"])

    def heun(number: Any, step: Any) -> Any:
        change = tendency(number[None])[0]
        stage = number + step * change
        return 0.5 * (number + stage + step * tendency(stage[None])[0]), None

    def predict(x: Any) -> Any:
        start = jnp.exp(basis @ x) * widths
        return seen @ jax.lax.scan(heun, start, intervals)[0]

    return predict


def solver(a: dict[str, Any], formulation: str) -> Any:
    """A compiled function: minima of all boxes from one start, and the steps that each took."""
    predict, strength = prediction(a, formulation), float(a["strength"])
    prior = jnp.asarray(strength * a["roughness"].T @ a["roughness"])
    identity = jnp.eye(prior.shape[0])

    def objective(x: Any, data: Any) -> Any:
        residual = predict(x) - data
        return 0.5 * (residual @ residual + x @ prior @ x)

    def linear(x: Any, data: Any) -> Any:
        jacobian, predicted = jax.jacfwd(lambda x: (predict(x),) * 2, has_aux=True)(x)
        residual = predicted - data
        return 0.5 * (residual @ residual + x @ prior @ x), jacobian.T @ residual + prior @ x, jacobian.T @ jacobian

    def advance(data: Any, state: Any) -> Any:
        x, value, gradient, curvature, damping, growth, count, done = state
        hessian = curvature + prior
        scale = jnp.maximum(jnp.diagonal(hessian), 1e-9 * jnp.diagonal(hessian).max())
        step = -jnp.linalg.solve(hessian + damping * scale * identity, gradient)
        expected = -step @ gradient - 0.5 * step @ hessian @ step
        longest = jnp.abs(step).max()
        step = step * jnp.minimum(1.0, 3.0 / jnp.maximum(longest, 1e-300))
        trial = objective(x + step, data)
        fall = jnp.where(jnp.isfinite(trial), value - trial, -jnp.inf)
        better = ~done & (fall > 0.0)
        ratio = jnp.where(better, fall / jnp.maximum(expected, 1e-300), -1.0)
        softer = jnp.clip(1.0 - (2.0 * ratio - 1.0) ** 3, 1.0 / 3.0, 2.0)
        x = jnp.where(better, x + step, x)
        size = 1.0 + jnp.abs(value)
        settled = better & (longest <= 3.0) & (fall <= OBJECTIVE * size) & (ratio > 0.25)
        ends = settled | (better & (jnp.abs(step).max() <= STEP)) | (~better & (jnp.abs(fall) <= 1e-12 * size))
        value, gradient, curvature = linear(x, data)
        ends |= jnp.abs(gradient).max() <= GRADIENT * (1.0 + jnp.abs(value))
        damping = jnp.where(better, damping * softer, damping * growth)
        growth = jnp.where(better, 2.0, growth * 2.0)
        return x, value, gradient, curvature, damping, growth, count + ~done, done | ends

    def solve(start: Any, data: Any) -> Any:
        def first(start: Any, data: Any) -> Any:
            return start, *linear(start, data), jnp.asarray(1e-3), jnp.asarray(2.0), jnp.asarray(0), jnp.asarray(False)

        state = jax.vmap(first)(start, data)
        step = jax.vmap(advance)
        state = jax.lax.while_loop(lambda s: ~jnp.all(s[7]) & (jnp.max(s[6]) < MOST), lambda s: step(data, s), state)
        return state[0], state[1], state[6], state[7]

    return jax.jit(solve)


def main(problem: str, result: str) -> None:
    """Solve by the formulation of the file, compiled beforehand."""
    with np.load(problem) as archive:
        a = {name: archive[name] for name in archive.files}
    start, data = jnp.asarray(a["start"]), jnp.asarray(a["measured"] @ a["whitening"].T)
    found: dict[str, Any] = {}
    for formulation in ("pairs", "matrices"):
        solve = solver(a, formulation).lower(start, data).compile()
        wall, cpu = time.perf_counter(), time.process_time()
        x, value, count, done = jax.block_until_ready(solve(start, data))
        found |= {f"{formulation} wall": time.perf_counter() - wall, f"{formulation} cpu": time.process_time() - cpu}
        found |= {f"{formulation} x": x, f"{formulation} objective": value, f"{formulation} converged": done}
        found |= {f"{formulation} iterations": count}
    np.savez(result, **{name: np.asarray(value) for name, value in found.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
