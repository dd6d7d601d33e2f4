"""Claim: on analytic cases more accurate and faster than particula's binned coagulation, volume kept.

Constant and additive kernels from an exponential start, to N0 K0 t = 2 and b N0 v0 t = 1, on one grid
with the same steps of Heun's method: L1 error of the volume in bins, volume at the end (with what has
left the grid's top, where a model counts it) over volume at the start, and time per step of one box.
particula needs Python 3.12.

    python -m benchmarks.particula_binned
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from benchmarks.timing import take_turns, verdict
from numpy.typing import NDArray

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.exact import AdditiveSolution, ConstantSolution, ExponentialStart
from retrograde.aerosol.physics import AdditiveKernel, CoagulationKernel, ConstantKernel
from retrograde.aerosol.processes import CoagulationFixedPivot
from retrograde.aerosol.simulation import Simulation

Floats = NDArray[np.float64]
N0, V0, STEPS = 1e12, 1e-21, 200
GRID = SizeGrid.from_ratio(V0 * 2.0**-12, 2.0**0.5, 44)
CASES: dict[str, tuple[CoagulationKernel, ExponentialStart, float]] = {
    "constant": (ConstantKernel(1.0 / N0), ConstantSolution(1.0 / N0, N0, V0), 2.0),
    "additive": (AdditiveKernel(1.0 / (N0 * V0)), AdditiveSolution(1.0 / (N0 * V0), N0, V0), 1.0),
}


def particula_run(dynamics: Any, number: Floats, kernel: Floats, time: float) -> Floats:
    """Heun's method on particula's gain and loss rates."""
    radius, h = GRID.diameters / 2.0, time / STEPS

    def tendency(n: Floats) -> Floats:
        gain = dynamics.get_coagulation_gain_rate_discrete(radius, n, kernel)
        return gain - dynamics.get_coagulation_loss_rate_discrete(n, kernel)

    for _ in range(STEPS):
        change = tendency(number)
        number = number + 0.5 * h * (change + tendency(number + h * change))
    return number


def compare(name: str, dynamics: Any) -> bool:
    """Print a line for each model and say whether ours is the better one."""
    kernel, solution, time = CASES[name]
    table = np.asarray(kernel.matrix_numpy(GRID))[0]
    start = solution.bin_numbers(GRID.edges, 0.0)
    exact = solution.bin_volumes(GRID.edges, time)
    simulation = Simulation(GRID, (CoagulationFixedPivot(kernel),), np.array([0.0, time]), STEPS)
    integration = simulation.prepare(1, device="cpu")
    state = SectionalState.from_numpy(start, GRID, device="cpu")
    functions: dict[str, Callable[[], object]] = {
        "particula": lambda: particula_run(dynamics, start, table, time),
        "ours": lambda: integration.forward(state.number),
    }
    timings = take_turns(functions, seconds=5.0)
    finals = {"particula": particula_run(dynamics, start, table, time), "ours": integration.number.numpy()[1, 0]}
    escaped = {"particula": 0.0, "ours": float(integration.escaped_volume.numpy()[1, 0])}
    errors = {}
    for model, final in finals.items():
        volume = final * GRID.volumes
        errors[model] = float(np.abs(volume - exact).sum() / exact.sum())
        kept = (volume.sum() + escaped[model]) / (start @ GRID.volumes)
        print(f"{name} kernel, {model}: L1 error {errors[model]:.4f}, volume kept {kept:.12f}, "
              f"{1e6 * timings.median(model) / STEPS:.1f} us a step")  # fmt: skip
    print(f"  {errors['particula'] / errors['ours']:.1f} times as accurate, "
          f"{timings.ratio('particula', 'ours'):.0f} times as fast")  # fmt: skip
    return errors["ours"] < errors["particula"] and timings.median("ours") < timings.median("particula")


def main() -> int:
    """Both kernels, where particula is installed."""
    wp.config.log_level = wp.LOG_WARNING
    try:
        from particula import dynamics
    except ImportError:
        print("skipped: particula is not installed (it needs Python 3.12 or later)")
        return 0
    outcomes = [compare(name, dynamics) for name in CASES]
    print(f"claim: {verdict(all(outcomes))}")
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
