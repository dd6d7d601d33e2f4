"""Claim: unbiased estimators hit the exact gradient, relaxed ones miss it, by how much and at what cost.

Ten particles a box in two bins, additive kernel to b N0 v0 t = 0.7, the number left; its derivative with respect to
the bins' intensities and to the logarithms of their masses is known exactly, for the finite process. Prints, for every
estimator, its bias in per cent of the largest component with its standard error, the standard deviation of one box,
microseconds a box, and variance times cost; draws the relaxations' bias and spread over the temperature.

    python -m benchmarks.estimators [FIGURE.png]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import warp as wp
from benchmarks.timing import verdict

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.exact import AdditiveMoments, Moments, additive_number
from retrograde.aerosol.particles import ParticleSimulation
from retrograde.aerosol.particles.estimators import (
    Baseline,
    Choice,
    Combined,
    Estimator,
    GradientEstimate,
    Gumbel,
    Parameter,
    Pathwise,
    ScoreFunction,
    StochasticProblem,
    StraightThrough,
)
from retrograde.aerosol.particles.losses import ParticleMoment
from retrograde.aerosol.particles.start import PoissonStart
from retrograde.aerosol.physics import AdditiveKernel
from retrograde.aerosol.processes import CoagulationFixedPivot
from retrograde.aerosol.simulation import Simulation

N0, V0, ETA = 1e12, 1e-21, 0.7
INTENSITY, VOLUMES = np.array([6.0, 4.0]), np.array([1.0, 2.0]) * V0
AIR = float(INTENSITY.sum()) / N0
KERNEL = AdditiveKernel(1.0 / (N0 * V0))
TEMPERATURES = (0.125, 0.25, 0.5, 1.0, 2.0)
BOXES = {Choice.ACCEPTANCE: 20_000, Choice.PAIR: 1_500}
PARAMETERS = (Parameter.INTENSITY, Parameter.LOG_MASS)
Row = tuple[GradientEstimate, float, float, float]


def problem() -> StochasticProblem:
    """The problem."""
    start = PoissonStart(INTENSITY, VOLUMES * 1000.0, AIR)
    return StochasticProblem(start, ParticleSimulation([0.0, ETA], kernel=KERNEL, margin=1.3), ParticleMoment(0.0))


def exact(parameter: Parameter) -> Any:
    """Exact gradient of the finite process."""
    means = additive_number(INTENSITY, VOLUMES, KERNEL.slope * ETA / AIR)
    return means.by_intensity if parameter is Parameter.INTENSITY else means.by_log_volume


def row(estimator: Estimator, parameter: Parameter, boxes: int) -> Row:
    """Estimate; bias and its standard error, relative to the largest component; processor time of a box [s]."""
    estimator.estimate(problem(), parameter, boxes=2, seed=0)
    started = time.process_time()
    estimate = estimator.estimate(problem(), parameter, boxes=boxes, seed=7)
    seconds = (time.process_time() - started) / boxes
    reference = exact(parameter)
    worst = int(np.argmax(np.abs(estimate.mean - reference)))
    scale = np.abs(reference).max()
    return estimate, (estimate.mean - reference)[worst] / scale, estimate.standard_error[worst] / scale, seconds


def show(result: Row) -> None:
    """Print one line."""
    estimate, bias, error, seconds = result
    spread = float(np.sqrt((estimate.standard_error**2).sum() * estimate.samples))
    heat = "" if estimate.temperature is None else f" at {estimate.temperature:g}"
    cells = [
        f"{estimate.estimator}{heat}",
        "yes" if estimate.biased else "no",
        f"{100 * bias:+.1f} +- {100 * error:.1f}",
        f"{spread:.2f}",
        f"{1e6 * seconds:.0f}",
        f"{1e6 * spread**2 * seconds:.0f}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def surrogate(parameter: Parameter) -> Any:
    """Gradient of the sectional model of the same start, in the number of particles."""
    grid = SizeGrid.from_ratio(V0, 2.0 ** (1 / 4), 60)
    places = [int(np.argmin(np.abs(grid.volumes - v))) for v in VOLUMES]
    number = np.zeros(grid.bins)
    number[places] = INTENSITY / AIR
    simulation = Simulation(grid, (CoagulationFixedPivot(KERNEL),), np.array([0.0, ETA]), substeps=400)
    trajectory = simulation.run(SectionalState.from_numpy(number, grid))
    gradient = simulation.pullback(trajectory, {1: np.ones((1, grid.bins))}).numpy()[0]
    if parameter is Parameter.INTENSITY:
        return gradient[places]
    slopes = np.gradient(gradient, np.log(grid.volumes), edge_order=2)
    return INTENSITY * slopes[places]


def draw(path: str, rows: dict[Parameter, list[Row]]) -> None:
    """Bias and spread of the relaxations over the temperature."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(8, 6), sharex=True, layout="constrained")
    for column, (parameter, results) in enumerate(rows.items()):
        for name in dict.fromkeys(r[0].estimator for r in results):
            own = [r for r in results if r[0].estimator == name]
            heat = [float(r[0].temperature or 0.0) for r in own]
            bias, error = (100.0 * np.array([r[k] for r in own]) for k in (1, 2))
            spread = [float(np.sqrt((r[0].standard_error ** 2).sum() * r[0].samples)) for r in own]
            panels[0, column].errorbar(heat, bias, 2 * error, marker="o", label=name, capsize=2)
            panels[1, column].plot(heat, spread, marker="o", label=name)
        panels[0, column].axhline(0.0, color="0.6", linewidth=0.8)
        panels[0, column].set_yscale("symlog", linthresh=20)
        panels[0, column].set_title(f"with respect to the {parameter.value}")
        panels[1, column].set(xscale="log", yscale="log", xlabel="temperature")
        panels[1, column].set_xticks(TEMPERATURES, [f"{t:g}" for t in TEMPERATURES])
        panels[1, column].tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    panels[0, 0].set_ylabel("bias / % of the largest component")
    panels[1, 0].set_ylabel("standard deviation of a box")
    panels[1, 0].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=130)


def main() -> int:
    """All estimators, both parameters."""
    wp.config.log_level = wp.LOG_WARNING
    reached, relaxed = True, {}
    for parameter in PARAMETERS:
        print(f"\nwith respect to the {parameter.value}: exact {exact(parameter)}, sectional {surrogate(parameter)}")
        if parameter is Parameter.INTENSITY:
            moments = Moments.of(INTENSITY / AIR, VOLUMES)
            print(
                "Smoluchowski's exact gradient:", AdditiveMoments(KERNEL.slope).gradients(moments, VOLUMES, ETA).zeroth
            )
        print("| estimator | biased | bias / % | sd of a box | us a box | variance x cost |\n|---|---|---|---|---|---|")
        kind = ScoreFunction if parameter is Parameter.INTENSITY else Combined
        plain: list[Estimator] = [kind(baseline) for baseline in Baseline]
        if parameter is Parameter.LOG_MASS:
            plain.append(Pathwise())
        for estimator in plain:
            result = row(estimator, parameter, 100_000)
            show(result)
            reached &= result[0].biased or abs(result[1]) < 4.0 * result[2]
        relaxed[parameter] = [
            row(way(temperature, choice), parameter, BOXES[choice])
            for way in (StraightThrough, Gumbel)
            for choice in Choice
            for temperature in TEMPERATURES
        ]
        for result in relaxed[parameter]:
            show(result)
    if len(sys.argv) > 1:
        draw(sys.argv[1], relaxed)
    print(f"\nunbiased ones within four standard errors: {verdict(reached)}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
