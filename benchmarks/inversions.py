"""Claim: a thousand inversions at once take at most a fiftieth of SciPy's L-BFGS-B with gradients by differences.

Both minimise the same objective to the same value; SciPy's processor time is that of a few boxes, scaled up.

    python -m benchmarks.inversions
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.optimize import minimize

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt
from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.problem import Problem

BOXES, SAMPLE, KNOTS_PER_DECADE, STRENGTH = 1000, 3, 10.0, 0.1
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


def main() -> int:
    """Print both times and their ratio; whether the claim holds."""
    problem, _, start = chamber()
    noise = np.random.default_rng(0).standard_normal((BOXES, problem.channels))
    measured = problem.measured + noise @ np.linalg.cholesky(problem.covariance).T
    solver, single = LevenbergMarquardt(problem, BOXES), Evaluation(problem, 1)
    starts, strengths = np.tile(start, (BOXES, 1)), np.full(BOXES, STRENGTH)
    single.predict(start[None])
    solver.evaluation.evaluate(starts, measured, strengths)
    began = time.process_time()
    found = solver.solve(starts, measured, strengths)
    ours = time.process_time() - began
    began = time.process_time()
    theirs = [by_scipy(problem, single, start, measured[box]) for box in range(SAMPLE)]
    one = (time.process_time() - began) / SAMPLE
    excess = max(fun - found.objective[box] for box, (fun, _) in enumerate(theirs))
    ratio = one * BOXES / ours
    print(f"{problem.simulation.grid.bins} bins, {problem.knots} unknowns, {BOXES} boxes")
    print(
        f"together: {ours:.1f} s, {found.is_converged.mean():.1%} converged, {found.iterations.mean():.1f} iterations"
    )
    print(f"SciPy with differences: {one:.2f} s a box, {np.mean([n for _, n in theirs]):.0f} simulations a box")
    print(f"its objective lies at most {excess:.2g} above ours")
    print(f"ratio {ratio:.0f}: at least 50 is claimed")
    return 0 if ratio >= 50.0 and found.is_converged.all() else 1


if __name__ == "__main__":
    sys.exit(main())
