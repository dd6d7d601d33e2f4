"""Claim: a thousand inversions at once, against SciPy and against JAX.

At most a fiftieth of the processor time of SciPy's L-BFGS-B with gradients by differences, and at most a fifth of that
of JAX. All minimise the same objective to the same value; SciPy's time is that of a few boxes, scaled up. JAX runs in a
process of its own, compiled beforehand, and may use every core: its processor time and its time on the clock are both
printed. It is given the usual list of pairs, which the claim is about, and this project's own formulation.

    python -m benchmarks.inversions [BOXES]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt
from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.problem import Problem

SAMPLE, KNOTS_PER_DECADE, STRENGTH = 3, 10.0, 0.1
NOISE = 0.03


def chamber() -> tuple[Problem, np.ndarray, np.ndarray]:
    """Forty bins, ten minutes of coagulation, one scan at the end: problem, truth and first guess of the unknowns."""
    grid = SizeGrid.geometric(20e-9, 900e-9, bins_per_decade=23.5)
    times = np.linspace(0.0, 600.0, 31)
    simulation = Prescribed(298.15, 101325.0, 1000.0).simulation(grid, times, 1)
    spectrum = 8e11 * np.exp(-0.5 * (np.log(grid.diameters / 70e-9) / np.log(1.7)) ** 2) + 1e6
    unknown = LogKnots.even(grid, 20e-9, 900e-9, KNOTS_PER_DECADE)
    truth = unknown.from_spectrum(spectrum)
    last = np.full(grid.bins, times[-1])
    operator = ObservationOperator.build(grid, times, last, grid.diameters, grid.ln_widths)
    run = simulation.run(SectionalState.from_numpy(unknown.number(truth), grid))
    seen = operator.apply(run.numpy())[0]
    covariance = np.diag((NOISE * seen) ** 2 + (1e-4 * seen.max()) ** 2)
    problem = Problem(unknown, simulation, operator, seen, covariance)
    return problem, truth, unknown.from_spectrum(np.maximum(seen / grid.ln_widths, 1e6))


def by_scipy(problem: Problem, evaluation: Evaluation, start: np.ndarray, measured: np.ndarray) -> tuple[float, int]:
    """Least objective, with gradients by forward differences; and the simulations it took."""
    count = 0

    def objective(x: np.ndarray) -> float:
        nonlocal count
        count += 1
        predicted, valid = evaluation.predict(x[None])
        if not valid[0]:
            return 1e9
        residual, rough = problem.whitening @ (predicted[0] - measured), problem.roughness @ x
        return 0.5 * float(residual @ residual + STRENGTH * rough @ rough)

    options = {"maxfun": 10**6, "maxiter": 10**4, "ftol": 1e-10}
    return float(minimize(objective, start, method="L-BFGS-B", options=options).fun), count


def by_jax(problem: Problem, starts: np.ndarray, measured: np.ndarray) -> dict[str, np.ndarray]:
    """What `benchmarks.peer_jax_inversion` found, and how long it took."""
    unknown, terms = problem.unknown, problem.simulation.terms
    assert terms.coagulation is not None
    nodes, bins = len(problem.simulation.times), unknown.grid.bins
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "problem.npz", Path(folder) / "result.npz"
        np.savez(
            given,
            volumes=unknown.grid.volumes, kernel=terms.coagulation.kernel, times=problem.simulation.times,
            basis=unknown.basis, widths=np.where(unknown.inside, unknown.grid.ln_widths, 0.0),
            last=problem.operator.matrix.toarray().reshape(-1, nodes, bins)[:, -1],
            whitening=problem.whitening, roughness=problem.roughness, strength=STRENGTH,
            start=starts, measured=measured,
        )  # fmt: skip
        subprocess.run([sys.executable, "-m", "benchmarks.peer_jax_inversion", str(given), str(result)], check=True)
        with np.load(result) as archive:
            return {name: archive[name] for name in archive.files}


def main() -> int:
    """Print all times and their ratios; whether the claim holds."""
    problem, _, start = chamber()
    boxes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    noise = np.random.default_rng(0).standard_normal((boxes, problem.channels))
    measured = problem.measured + noise @ np.linalg.cholesky(problem.covariance).T
    solver, single = LevenbergMarquardt(problem, boxes), Evaluation(problem, 1)
    starts, strengths = np.tile(start, (boxes, 1)), np.full(boxes, STRENGTH)
    single.predict(start[None])
    solver.evaluation.evaluate(starts, measured, strengths)
    began, clock = time.process_time(), time.perf_counter()
    found = solver.solve(starts, measured, strengths)
    ours, ours_wall = time.process_time() - began, time.perf_counter() - clock
    began = time.process_time()
    theirs = [by_scipy(problem, single, start, measured[box]) for box in range(SAMPLE)]
    one = (time.process_time() - began) / SAMPLE
    excess = max(fun - found.objective[box] for box, (fun, _) in enumerate(theirs))
    ratio = one * boxes / ours
    print(f"{problem.simulation.grid.bins} bins, {problem.knots} unknowns, {boxes} boxes")
    print(f"together: {ours:.1f} s of processor time, {ours_wall:.1f} s on the clock,", end=" ")
    print(f"{found.is_converged.mean():.1%} converged, {found.iterations.mean():.1f} iterations")
    count = np.mean([n for _, n in theirs])
    print(f"SciPy with differences: {one:.2f} s a box, {count:.0f} simulations a box")
    print(f"its objective lies at most {excess:.2g} above ours")
    print(f"ratio {ratio:.0f}: at least 50 is claimed")
    peer, ratios = by_jax(problem, starts, measured), {}
    for name in ("pairs", "matrices"):
        cpu, wall = float(peer[f"{name} cpu"]), float(peer[f"{name} wall"])
        ratios[name] = cpu / ours
        print(
            f"JAX, {name}: {cpu:.1f} s of processor time, {wall:.1f} s on the clock, "
            f"{peer[f'{name} converged'].mean():.1%} converged, {peer[f'{name} iterations'].mean():.1f} iterations, "
            f"objectives at most {np.max(peer[f'{name} objective'] - found.objective):.2g} above ours, "
            f"ratio {ratios[name]:.1f} ({wall / ours_wall:.1f} on the clock)"
        )
    print("at least 5 is claimed of pairs")
    reached = ratio >= 50.0 and ratios["pairs"] >= 5.0 and bool(found.is_converged.all())
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
