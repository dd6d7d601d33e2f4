"""How far back can an aerosol be traced through coagulation, and are the intervals right?

Twin experiments: the start is known, because it was made up. An aerosol coagulates; an instrument of forty channels
sees it late, with noise; the start is recovered from that and compared with the truth. The truth is simulated on bins a
third as wide as those of the inversion. Every experiment is repeated with new noise, all repetitions as boxes of
one search, each with a strength of the prior of its own by cross-validation.

The time is told as tau = K N0 t: N0 is the number at the start, K its coagulation kernel, the mean over all pairs of
particles. With a constant kernel, the number would fall to 2 / (2 + tau) of what it was.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import warp as wp

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.inversion import Prescribed
from retrograde.aerosol.inversion.guess import guess_start
from retrograde.aerosol.inversion.minima import Minima, find_minima
from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.uncertainty import interval_factor
from retrograde.aerosol.physics import BrownianKernel

mpl.use("Agg")
from matplotlib import pyplot as plt

Floats = np.ndarray

AIR = Prescribed(298.15, 101325.0, 1000.0)
WHOLE, PART = (20e-9, 900e-9), (45e-9, 400e-9)  # sizes that the instrument sees [m]
NUMBER = 1e12  # at the start [m^-3]
SCANS = 6  # of a series, evenly spaced
FLOOR = 1e-3  # noise of an empty channel, in parts of the fullest one
BACKGROUND = 1e-4  # of particles of all sizes, in parts of the spectrum's peak
LEAST = 0.01  # noise that is assumed where there is none
GRID = SizeGrid.geometric(*WHOLE, bins_per_decade=23.5).extended_upward(2e-6)
FINE = SizeGrid.geometric(GRID.diameters[0], GRID.diameters[-1], bins_per_decade=3 * 23.5)
TRUTHS = ("two modes", "one narrow mode", "exponential in volume")


@dataclass(frozen=True)
class Experiment:
    """A question.

    Attributes:
        tau: How far back the start lies [1].
        noise: Of every channel, relative [1].
        series: Whether six scans were seen on the way, and not only the last.
        part: Whether the instrument sees sizes of 45 to 400 nm alone.
        beyond: The unknown reaches this much further than the sizes seen [1]; beyond it nothing is taken to be.
        far: Whether the search starts from the same number at all sizes.
        truth: One of `TRUTHS`.
        boxes: Repetitions.
    """

    tau: float
    noise: float = 0.03
    series: bool = False
    part: bool = False
    beyond: float = 1.0
    far: bool = False
    truth: str = TRUTHS[0]
    boxes: int = 24


@dataclass(frozen=True)
class Outcome:
    """What came out over all boxes, for the sizes seen.

    Errors are root mean squares of differences of logarithms; what is promised is Laplace's approximation. Sizes whose
    true spectrum is below a hundredth of its peak do not count; of the others each counts by its true number.
    """

    experiment: Experiment
    converged: float
    number_bias: float
    number_error: float
    number_promised: float
    number_covered: float
    spectrum_error: float
    spectrum_promised: float
    spectrum_covered: float
    shape_l1: float
    signal: float
    seconds: float


def start_on(grid: SizeGrid, truth: str) -> Floats:
    """A truth: number in every bin [m^-3]."""
    d = grid.diameters
    if truth == "exponential in volume":
        spectrum = (d / 100e-9) ** 3 * np.exp(-((d / 100e-9) ** 3))
    else:
        modes = [(0.7, 60e-9, 1.5), (0.3, 150e-9, 1.6)] if truth == "two modes" else [(1.0, 80e-9, 1.25)]
        shapes = [np.exp(-0.5 * (np.log(d / at) / np.log(w)) ** 2) / np.log(w) for _, at, w in modes]
        spectrum = np.array([share for share, _, _ in modes]) @ shapes
    number = (spectrum / spectrum.max() + BACKGROUND) * grid.ln_widths
    return NUMBER * number / number.sum()


@cache
def duration(tau: float, truth: str) -> float:
    """Time [s] in which K N0 t reaches tau."""
    number, kernel = start_on(GRID, truth), np.asarray(BrownianKernel(AIR.density).for_boxes(GRID, AIR.air))
    return tau * float(number.sum() / (number @ kernel @ number))


def nodes_until(tau: float, truth: str) -> Floats:
    """Times of the states [s]: steps grow as coagulation slows down."""
    end, start = duration(tau, truth), SectionalState.from_numpy(start_on(GRID, truth), GRID)
    rate = float(AIR.simulation(GRID, np.array([0.0, 1.0])).peak_rate(start).max())
    growth = np.log1p(tau / 2.0)
    count = int(np.ceil(growth / (tau / 2.0) * end * rate / 0.15)) + SCANS
    return end * np.expm1(growth * np.linspace(0.0, 1.0, count + 1)) / (tau / 2.0)


class Twin:
    """What a truth would show without noise, and the problem of getting back to it."""

    def __init__(self, experiment: Experiment) -> None:
        tau, truth = experiment.tau, experiment.truth
        nodes = nodes_until(tau, truth)
        low, high = PART if experiment.part else WHOLE
        self.seen = (GRID.diameters >= low * 0.999) & (GRID.diameters <= high * 1.001)
        scans = nodes[-1] * (np.arange(1, SCANS + 1) / SCANS if experiment.series else np.ones(1))
        times, sizes = (a.reshape(-1) for a in np.meshgrid(scans, np.flatnonzero(self.seen), indexing="ij"))
        centres, widths = GRID.diameters[sizes], GRID.ln_widths[sizes]
        self.start = start_on(FINE, truth)
        run = AIR.simulation(FINE, nodes, None).run(SectionalState.from_numpy(self.start, FINE)).numpy()
        self.mean = ObservationOperator.build(FINE, nodes, times, centres, widths).apply(run)[0]
        deviation = np.hypot(max(experiment.noise, LEAST) * self.mean, FLOOR * self.mean.max())
        self.noise = deviation if experiment.noise > 0.0 else np.zeros_like(deviation)
        operator = ObservationOperator.build(GRID, nodes, times, centres, widths)
        unknown = LogKnots.even(GRID, low / experiment.beyond, min(high * experiment.beyond, GRID.diameters[-1]), 10.0)
        self.problem = Problem(unknown, AIR.simulation(GRID, nodes), operator, self.mean, np.diag(deviation**2))
        self.first_scan = float(scans[0])

    @property
    def truth(self) -> Floats:
        """True unknowns [1], shape [knots]."""
        spectrum = np.log(np.maximum(self.start / FINE.ln_widths, 1e-300))
        return np.interp(np.log(self.problem.unknown.diameters), FINE.ln_diameters, spectrum)

    def measured(self, boxes: int, seed: int) -> Floats:
        """What the instrument shows [m^-3], shape [boxes, channels]."""
        return self.mean + self.noise * np.random.default_rng(seed).standard_normal((boxes, self.mean.size))

    def guess(self, measured: Floats, far: bool) -> Floats:
        """First guess: the first scan scaled until its simulation agrees, or its number at all sizes alike."""
        unknown, count = self.problem.unknown, int(self.seen.sum())
        scan = np.maximum(measured[:, :count].mean(axis=0), FLOOR * measured.max())
        if far:
            width = np.log(unknown.diameters[-1] / unknown.diameters[0])
            return np.full(unknown.knots, np.log(scan.sum() / width))
        spectrum = np.interp(GRID.ln_diameters, GRID.ln_diameters[self.seen], scan / GRID.ln_widths[self.seen])
        simulation = AIR.simulation(GRID, np.array([0.0, self.first_scan]), None)
        return unknown.from_spectrum(
            guess_start(simulation, spectrum * GRID.ln_widths, unknown.inside) / GRID.ln_widths
        )


# --8<-- [start:recover]
def recover(experiment: Experiment, seed: int = 1) -> tuple[Twin, Minima, float]:
    """Recover the start from every box's data; the twin, what was found, and the processor time [s]."""
    twin = Twin(experiment)
    measured = twin.measured(experiment.boxes, seed)
    guess = np.tile(twin.guess(measured, experiment.far), (experiment.boxes, 1))
    began = time.process_time()
    found = find_minima(twin.problem, guess, measured, "gcv")
    return twin, found, time.process_time() - began


# --8<-- [end:recover]


def compare(experiment: Experiment, twin: Twin, found: Minima, seconds: float) -> Outcome:
    """Hold what was found, and its uncertainty, against the truth."""
    unknown, factor, covariance = twin.problem.unknown, interval_factor(0.95), found.covariance()
    true, number = (unknown.number(x)[..., twin.seen] for x in (twin.truth, found.x))
    basis = unknown.basis[twin.seen]
    slope = number @ basis / number.sum(axis=1, keepdims=True)
    number_away = np.log(number.sum(axis=1) / true.sum())
    number_deviation = np.sqrt(np.einsum("bk,bkl,bl->b", slope, covariance, slope))
    spectrum_away = (found.x - twin.truth) @ basis.T
    spectrum_deviation = np.sqrt(np.einsum("ik,bkl,il->bi", basis, covariance, basis))
    spectrum = true / GRID.ln_widths[twin.seen]
    weight = np.where(spectrum > 0.01 * spectrum.max(), true, 0.0)
    weight /= weight.sum()
    shapes = number / number.sum(axis=1, keepdims=True)
    return Outcome(
        experiment=experiment,
        converged=float(found.solution.is_converged.mean()),
        number_bias=float(number_away.mean()),
        number_error=float(np.sqrt(np.mean(number_away**2))),
        number_promised=float(np.sqrt(np.mean(number_deviation**2))),
        number_covered=float(np.mean(np.abs(number_away) <= factor * number_deviation)),
        spectrum_error=float(np.sqrt((spectrum_away**2).mean(axis=0) @ weight)),
        spectrum_promised=float(np.sqrt((spectrum_deviation**2).mean(axis=0) @ weight)),
        spectrum_covered=float((np.abs(spectrum_away) <= factor * spectrum_deviation).mean(axis=0) @ weight),
        shape_l1=float(np.abs(shapes - true / true.sum()).sum(axis=1).mean()),
        signal=float(np.trace(found.averaging_kernel(), axis1=1, axis2=2).mean()),
        seconds=seconds,
    )


QUICK, FULL = (0.1, 1.0, 4.0, 10.0), (0.1, 0.3, 1.0, 2.0, 4.0, 7.0, 10.0)
VIEWS = {  # what is seen, and what is asked of it
    "last scan": {},
    "six scans": {"series": True},
    "part of the sizes": {"part": True},
    "part, unknown reaching further": {"part": True, "beyond": 1.5},
}
PLAIN = {"series": False, "part": False, "beyond": 1.0}


def study(full: bool) -> list[Experiment]:
    """All questions."""
    taus, boxes = (FULL, 100) if full else (QUICK, 24)
    questions = [Experiment(tau, noise, boxes=boxes) for noise in (0.03, 0.0, 0.1) for tau in taus]
    questions += [Experiment(tau, **view, boxes=boxes) for view in list(VIEWS.values())[1:] for tau in taus]
    questions += [Experiment(tau, far=True, boxes=boxes) for tau in taus]
    if full:
        questions += [Experiment(tau, truth=truth, boxes=boxes) for truth in TRUTHS[1:] for tau in (1.0, 4.0)]
    return questions


def view_of(e: Experiment) -> str:
    """What is seen, and what is asked of it, in words."""
    return next(words for words, view in VIEWS.items() if {**PLAIN, **view} == {key: getattr(e, key) for key in PLAIN})


def name(e: Experiment) -> str:
    """An experiment in a few words."""
    extra = ("" if e.truth == TRUTHS[0] else f", {e.truth}") + (", far guess" if e.far else "")
    return f"{view_of(e)}{extra}, noise {100 * e.noise:.0f} %"


HEADER = (
    f"{'':<48}{'number [%]':>16}{'spectrum [%]':>31}\n"
    f"{'':<48}  tau  bias error promised held error promised held signal  converged"
)


def line(o: Outcome) -> str:
    """A row of the table."""
    return (
        f"{name(o.experiment):<48}{o.experiment.tau:5.1f}{100 * o.number_bias:+6.1f}{100 * o.number_error:6.1f}"
        f"{100 * o.number_promised:9.1f}{100 * o.number_covered:5.0f}{100 * o.spectrum_error:6.1f}"
        f"{100 * o.spectrum_promised:9.1f}{100 * o.spectrum_covered:5.0f}{o.signal:7.1f}{100 * o.converged:9.0f} %"
    )


def draw(outcomes: list[Outcome], path: Path) -> None:
    """Errors beside what was promised, coverage, and one recovery."""
    figure, axes = plt.subplots(2, 3, figsize=(13.5, 7.6), layout="constrained")
    near = [o for o in outcomes if not o.experiment.far and o.experiment.truth == TRUTHS[0]]
    last = [o for o in near if view_of(o.experiment) == "last scan"]
    by_noise = {f"noise {100 * n:.0f} %": [o for o in last if o.experiment.noise == n] for n in (0.1, 0.03, 0.0)}
    common = [o for o in near if o.experiment.noise == 0.03]
    by_view = {words: [o for o in common if view_of(o.experiment) == words] for words in VIEWS}
    _errors(axes[0, 0], by_noise, "number", "last scan, all sizes: number")
    _errors(axes[0, 1], by_noise, "spectrum", "last scan, all sizes: spectrum")
    _errors(axes[1, 0], by_view, "number", "what was seen, noise 3 %: number")
    _coverage(axes[1, 1], by_view)
    _recovered(axes[0, 2], max(o.experiment.tau for o in near))
    _by_size(axes[1, 2])
    figure.savefig(path, dpi=110)
    plt.close(figure)


STYLES = (("#d55e00", "o"), ("#0072b2", "s"), ("#009e73", "^"), ("black", "D"))  # Okabe and Ito (2008)


def _errors(axes: plt.Axes, rows: dict[str, list[Outcome]], what: str, title: str) -> None:
    for (words, outcomes), (color, marker) in zip(rows.items(), STYLES, strict=False):
        taus = [o.experiment.tau for o in outcomes]
        actual = [100 * getattr(o, f"{what}_error") for o in outcomes]
        promised = [100 * getattr(o, f"{what}_promised") for o in outcomes]
        axes.loglog(taus, actual, color=color, marker=marker, markersize=5, label=words)
        axes.loglog(taus, promised, color=color, linestyle="--", marker=marker, markersize=5, fillstyle="none")
    axes.plot([], [], color="0.4", label="error (filled)")
    axes.plot([], [], color="0.4", linestyle="--", label="promised (open)")
    axes.set(xlabel="tau", ylabel="error [%]", title=title)
    axes.legend(frameon=False, fontsize="x-small")


def _coverage(axes: plt.Axes, rows: dict[str, list[Outcome]]) -> None:
    for (words, outcomes), (color, marker) in zip(rows.items(), STYLES, strict=False):
        taus = [o.experiment.tau for o in outcomes]
        for what, dashes in (("number", "-"), ("spectrum", ":")):
            values = [100 * getattr(o, f"{what}_covered") for o in outcomes]
            axes.semilogx(taus, values, color=color, marker=marker, markersize=5, linestyle=dashes)
        axes.plot([], [], color=color, marker=marker, label=words)
    axes.axhline(95.0, color="0.6", linewidth=0.8)
    axes.plot([], [], color="0.4", label="number")
    axes.plot([], [], color="0.4", linestyle=":", label="spectrum")
    axes.set(xlabel="tau", ylabel="truths in 95 % intervals [%]", ylim=(-3, 103), title="intervals, noise 3 %")
    axes.legend(frameon=False, fontsize="x-small", loc="lower left")


def _recovered(axes: plt.Axes, tau: float) -> None:
    """One recovery from the last scan."""
    twin, found, _ = recover(Experiment(tau, boxes=1))
    unknown = twin.problem.unknown
    d, scale = GRID.diameters[unknown.inside] * 1e9, 1e-6
    basis = unknown.basis[unknown.inside]
    half = interval_factor(0.95) * np.sqrt(np.einsum("ik,kl,il->i", basis, found.covariance()[0], basis))
    middle = found.x[0] @ basis.T
    axes.fill_between(
        d, *(np.exp(middle + s * half) * scale for s in (-1, 1)), color="#0072b2", alpha=0.3, label="95 %"
    )
    axes.plot(d, np.exp(middle) * scale, color="#0072b2", label="recovered")
    axes.plot(FINE.diameters * 1e9, twin.start / FINE.ln_widths * scale, color="black", linestyle="--", label="truth")
    seen = twin.measured(1, 1)[0] / GRID.ln_widths[twin.seen] * scale
    axes.plot(GRID.diameters[twin.seen] * 1e9, seen, "o", color="#d55e00", markersize=3, label="seen")
    top = 3.0 * float((twin.start / FINE.ln_widths).max()) * scale
    axes.set(xscale="log", yscale="log", ylim=(1e-4 * top, top), xlabel="diameter / nm", ylabel="dN/dlnD / cm$^{-3}$")
    axes.set_title(f"one of them: tau {tau:g}, noise 3 %")
    axes.legend(frameon=False, fontsize="x-small")


def _by_size(axes: plt.Axes) -> None:
    """Error of each size that Laplace promises."""
    for tau, shade, dashes in zip(QUICK, ("0.65", "0.45", "0.25", "0"), ("-", "--", "-.", ":"), strict=True):
        twin, found, _ = recover(Experiment(tau))
        error = np.median(np.sqrt(np.einsum("bkk->bk", found.covariance())), axis=0)
        diameters = twin.problem.unknown.diameters * 1e9
        axes.loglog(diameters, 100 * error, color=shade, linestyle=dashes, label=f"tau {tau:g}")
    axes.set(xlabel="diameter / nm", ylabel="promised error [%]", title="by size: last scan, noise 3 %", ylim=(1, 1000))
    axes.legend(frameon=False, fontsize="x-small")


def by_boxes(counts: Iterable[int], tell: Callable[[str], None]) -> None:
    """Processor time of an inversion, strength of the prior included, by how many are done at once."""
    alone = recover(Experiment(1.0, boxes=1))[1].x[0]
    for boxes in counts:
        found, seconds = recover(Experiment(1.0, boxes=boxes))[1:]
        apart = np.abs(found.x[0] - alone).max()
        tell(
            f"{boxes:5} boxes: {1e3 * seconds / boxes:7.1f} ms an inversion; the first one as by itself to {apart:.0e}"
        )


def main(arguments: list[str] | None = None) -> None:
    """Answer all questions, a line each, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="more times, repetitions and truths: ten minutes")
    parser.add_argument("--out", type=Path, default=Path("twin_experiments.png"), help="the figure")
    options = parser.parse_args(arguments)
    wp.config.log_level = wp.LOG_WARNING
    questions, outcomes = study(options.full), []
    print(HEADER, flush=True)
    for n, question in enumerate(questions):
        if sys.stderr.isatty():
            print(f"{n + 1} of {len(questions)}", end="\r", file=sys.stderr, flush=True)
        outcomes.append(compare(question, *recover(question)))
        print(line(outcomes[-1]), flush=True)
    print()
    by_boxes((1, 10, 100, 1000) if options.full else (1, 10, 100), print)
    draw(outcomes, options.out)
    print(f"drawn: {options.out}")


if __name__ == "__main__":
    main()
