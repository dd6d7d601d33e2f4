"""Conducts an inversion: minimum, uncertainty, forecast, test of the model, comparison."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.adequacy import Adequacy, assess
from retrograde.aerosol.inversion.case import Case
from retrograde.aerosol.inversion.ensemble import EnsembleCheck, check_by_ensemble
from retrograde.aerosol.inversion.errors import ErrorModes, Reach
from retrograde.aerosol.inversion.forecast import Forecast, forecast, process_modes
from retrograde.aerosol.inversion.held_out import HeldOut, compare_held_out
from retrograde.aerosol.inversion.levenberg_marquardt import LevenbergMarquardt, Progress
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.recovery import RecoveredState
from retrograde.aerosol.inversion.search import Minimum, find_minimum
from retrograde.aerosol.inversion.shown import ShownScan, show_scan
from retrograde.aerosol.inversion.stages import Stages
from retrograde.aerosol.inversion.uncertainty import Uncertainty

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recovery:
    """The answer to an inverse problem, and what speaks for and against it.

    Attributes:
        case: Scans, time, settings and processes.
        problem: The inverse problem.
        minimum: Its minimum and the search for it.
        state: The recovered spectrum with its uncertainty.
        shown: The recovered spectrum as the instrument would have shown it.
        forecast: What it predicts of all scans of the time span.
        adequacy: Test of the model on them.
        ensemble: Check of the uncertainty by inversions of noisy data; None where not asked for.
        held_out: Comparison with the scan at the recovered time; None where the file has none.
    """

    case: Case
    problem: Problem
    minimum: Minimum
    state: RecoveredState
    shown: ShownScan
    forecast: Forecast
    adequacy: Adequacy
    ensemble: EnsembleCheck | None
    held_out: HeldOut | None


def recover(
    case: Case,
    *,
    held_out: int | None = None,
    progress: Progress | None = None,
    resume: Path | None = None,
    device: Any = None,
) -> Recovery:
    """Recover the state of a case.

    Args:
        case: Scans, time, settings and processes.
        held_out: Scan to compare with, one of the case's watched ones.
        progress: Told what is being done.
        resume: File that finished stages are kept in and taken from; it belongs to this very problem.
        device: Warp device.
    """
    tell = progress or _say_nothing
    settings = case.settings
    tell("preparing")
    simulation = case.simulation()
    problem = case.problem(simulation)
    stages = Stages(resume, problem, settings)
    start = problem.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)
    minimum = stages.minimum(lambda: find_minimum(problem, start, settings, progress=tell, device=device))
    tell("uncertainty")
    known = uncertainty_of(case, problem, minimum)
    seen = forecast(case, problem, minimum.x, minimum.curve.strength, known, case.watched)
    adequacy = assess(seen, case.turns, settings.errors)
    factor = adequacy.model_error / settings.errors.model
    known, seen = known.with_model_error(factor), seen.with_model_error(factor)
    ensemble = None
    if settings.ensemble:
        tell("inversions of noisy data")
        ensemble = stages.ensemble(
            lambda: check_by_ensemble(
                problem, minimum, known, settings.ensemble, settings.seed, progress=tell, device=device
            )
        )
    compared = None
    if held_out is not None:
        tell("simpler guesses")
        others = _baselines(case, problem, minimum, held_out, device)
        compared = compare_held_out(seen, held_out, settings.level, others)
    state = RecoveredState(problem.unknown, minimum.x, known, settings.level)
    shown = show_scan(case, problem, minimum.x, known, adequacy.model_error)
    return Recovery(case, problem, minimum, state, shown, seen, adequacy, ensemble, compared)


def _say_nothing(_message: str) -> None: ...


def uncertainty_of(case: Case, problem: Problem, minimum: Minimum) -> Uncertainty:
    """Laplace's approximation at a minimum, with all errors that the fit leaves out."""
    channels = case.channels(case.seen)
    beyond = case.modes(channels).reaching(Reach.INSTRUMENT, Reach.MODEL)
    prescribed: ErrorModes = process_modes(case, problem.simulation, minimum.x, channels)
    modes = beyond.joined(prescribed).summed(case.joining(channels))
    return Uncertainty.at_minimum(problem, minimum.jacobian, minimum.curve.strength, modes)


def _baselines(case: Case, problem: Problem, minimum: Minimum, held_out: int, device: Any) -> list[tuple[str, Floats]]:
    """Guesses of a scan that do without coagulation, or without any inversion."""
    channels = case.channels(np.array([held_out]))
    bare = case.with_prescribed(case.prescribed.without_coagulation())
    simulation = bare.prescribed.simulation(case.grid, problem.simulation.times, problem.simulation.substeps)
    alone = problem.with_simulation(simulation)
    solver = LevenbergMarquardt(alone, 1, device=device)
    start = problem.unknown.from_spectrum(bare.first_guess() / case.grid.ln_widths)
    strength = np.array([minimum.curve.strength])
    found = solver.solve(start[None], problem.measured[None], strength)
    number = solver.evaluation.trajectory(found.x)
    without = case.operator(problem.simulation, channels).apply(number)[0]
    first = case.channels(case.seen[:1])
    as_seen = np.interp(channels.bins, first.bins, first.number)
    loss = case.prescribed.loss
    air, density = case.prescribed.air, case.prescribed.density
    rates = np.zeros(case.grid.bins) if loss is None else loss.rates(case.grid, air, density)
    by_channel = np.interp(np.log(channels.diameters), case.grid.ln_diameters, rates)
    elapsed = np.interp(channels.bins, first.bins, first.times) - np.maximum(channels.times, 0.0)
    return [
        ("inversion without coagulation", without),
        ("first seen scan, losses undone", as_seen * np.exp(by_channel * elapsed)),
        ("first seen scan as it is", as_seen),
    ]
