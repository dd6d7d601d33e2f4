"""The result of an inversion as one JSON object, and as text for a person."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from retrograde.aerosol.inversion.assumptions import assumptions
from retrograde.aerosol.inversion.certificate import Certificate
from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from retrograde.aerosol.inversion.verification import Verification

Document = dict[str, Any]

_PER_CM3 = 1e-6
_NM = 1e9


@dataclass(frozen=True, eq=False)
class Report:
    """All that there is to say about an inversion.

    Attributes:
        recovery: The answer.
        certificate: What the auditor said of the gradient; None where it was not asked.
        remarks: Further sentences about what was assumed, first in the list.
        verification: What particles made of the recovered state; None where it was not asked for.
    """

    recovery: Recovery
    certificate: Certificate | None
    remarks: tuple[str, ...] = ()
    verification: Verification | None = None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Everything taken for granted."""
        return (*self.remarks, *assumptions(self.recovery))


def summarise(report: Report) -> Document:
    """The object of `summary.json`: numbers in cm^-3, diameters in nm, times as the file has them.

    `number` and its interval are those of a scan that begins at `at`; `state` is the air at that very time.
    """
    recovery, state, shown = report.recovery, report.recovery.state, report.recovery.shown
    case, adequacy = recovery.case, recovery.adequacy
    document: Document = {
        "at": _time(case.at),
        "from": [_time(case.observations.start[i]) for i in case.seen],
        "number": shown.total * _PER_CM3,
        "number_interval": None,
        "mean_diameter": shown.mean_diameter * _NM,
        "mean_diameter_interval": None,
        "interval_level": state.level,
        "state": {
            "number": state.total * _PER_CM3,
            "number_interval": None,
            "number_true_interval": None,
            "mean_diameter": state.mean_diameter * _NM,
        },
        "degrees_of_freedom": state.uncertainty.degrees_of_freedom,
        "unknowns": state.unknown.knots,
        "model": {
            "adequate": adequacy.adequate,
            "statistic": adequacy.statistic,
            "p": adequacy.p,
            "degrees_of_freedom": adequacy.freedom,
            "model_error": adequacy.model_error,
        },
        "gradient": {"verdict": "not-audited", "error": None},
        "solver": {
            "stopping": recovery.minimum.stopping.value,
            "iterations": recovery.minimum.iterations,
            "starts": len(recovery.minimum.start_objectives),
            "start_distance": recovery.minimum.start_distance,
            "prior_strength": recovery.minimum.curve.strength,
            "prior_rule": recovery.minimum.curve.rule,
        },
        "ensemble": None,
        "assumptions": list(report.assumptions),
    }
    if not adequacy.is_rejected:
        document["number_interval"] = [v * _PER_CM3 for v in shown.total_interval()]
        document["mean_diameter_interval"] = [v * _NM for v in shown.mean_diameter_interval()]
        document["state"]["number_interval"] = [v * _PER_CM3 for v in state.total_interval()]
        document["state"]["number_true_interval"] = [v * _PER_CM3 for v in state.total_interval(true=True)]
    if report.certificate is not None:
        document["gradient"] = {"verdict": report.certificate.verdict, "error": report.certificate.error}
    if recovery.ensemble is not None:
        document["ensemble"] = {"members": recovery.ensemble.members, "deviation_ratio": recovery.ensemble.ratio}
    if recovery.held_out is not None:
        document["held_out"] = _held_out(report)
    if report.verification is not None:
        document["particles"] = _by_particles(report.verification)
    return document


def _by_particles(found: Verification) -> Document:
    scans = zip(
        found.start, found.measured, found.sectional, found.particles, found.standard_error, found.shape_l1, strict=True
    )
    return {
        "boxes": found.boxes,
        "scans": [
            {
                "start": _time(start),
                "number_measured": measured * _PER_CM3,
                "number_sectional": sectional * _PER_CM3,
                "number_particles": particles * _PER_CM3,
                "number_standard_error": error * _PER_CM3,
                "shape_l1": shape,
            }
            for start, measured, sectional, particles, error, shape in scans
        ],
    }


def _held_out(report: Report) -> Document:
    recovery, held_out = report.recovery, report.recovery.held_out
    assert held_out is not None
    return {
        "start": _time(recovery.case.observations.start[held_out.scan]),
        "number": held_out.number * _PER_CM3,
        "number_error": held_out.recovered.number_error,
        "mean_diameter_error": held_out.recovered.mean_diameter_error,
        "shape_l1": held_out.recovered.shape_l1,
        "coverage": None if recovery.adequacy.is_rejected else held_out.coverage,
        "baselines": [
            {
                "name": b.name,
                "number_error": b.number_error,
                "mean_diameter_error": b.mean_diameter_error,
                "shape_l1": b.shape_l1,
            }
            for b in held_out.baselines
        ],
    }


def render_summary(report: Report, *, width: int = 100, color: bool = False) -> str:
    """The result as text: the verdict on the model first, then the answer, then what it rests on."""
    stream = StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    for part in _parts(report):
        console.print(part)
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def _parts(report: Report) -> list[RenderableType]:
    recovery = report.recovery
    parts: list[RenderableType] = [_headline(report), Text(), _answer(report)]
    if recovery.held_out is not None:
        parts += [Text(), *_comparison(report)]
    parts += [Text(), *(_item(sentence) for sentence in _checks(report))]
    parts += [Text(), Text("assumed:", "dim"), *(_item(sentence) for sentence in report.assumptions)]
    return parts


def _headline(report: Report) -> Text:
    recovery = report.recovery
    adequacy, case = recovery.adequacy, recovery.case
    scans = f"{case.seen.size} scan{'s' * (case.seen.size > 1)}"
    first = _time(case.observations.start[case.seen[0]])
    if adequacy.is_rejected:
        turn, kind = adequacy.worst
        low, high = adequacy.class_edges[kind : kind + 2] * _NM
        begin, end = (_time(case.observations.start[s])[11:] for s in adequacy.turns[turn])
        line = Text.assemble(("MODEL REJECTED", "bold red"), f"  {case.observations.source}\n")
        return line.append(
            f"What is prescribed does not explain the scans from {_time(case.at)} on (chi-squared "
            f"{adequacy.statistic:.0f} for {adequacy.freedom}, p = {adequacy.p:.1g}): from {begin} to {end}, "
            f"{low:.0f} to {high:.0f} nm, {100 * adequacy.relative[turn, kind]:+.0f} % against what the recovered "
            f"state predicts, where {100 * adequacy.allowed[turn, kind]:.0f} % would be one standard deviation. The "
            "state below is the best fit of a wrong model, and has no intervals."
        )
    line = Text.assemble(("RECOVERED", "bold green"), f"  {case.observations.source}\n")
    line.append(f"The aerosol of {_time(case.at)}, from {scans} that began at {first}.")
    if adequacy.adequate is None:
        return line.append(" Whether the model holds could not be tested.")
    return line.append(
        f" The model holds over the time between: chi-squared {adequacy.statistic:.1f} for {adequacy.freedom}, "
        f"p = {adequacy.p:.2g}."
    )


def _answer(report: Report) -> Table:
    state, shown = report.recovery.state, report.recovery.shown
    rejected = report.recovery.adequacy.is_rejected
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("a scan begun then would have shown")
    table.add_column("")
    table.add_column("" if rejected else f"{100 * state.level:g} % interval")
    rows = (
        ("number", shown.total, shown.total_interval(), _PER_CM3, "cm^-3"),
        ("geometric mean diameter", shown.mean_diameter, shown.mean_diameter_interval(), _NM, "nm"),
        ("number in the air at that very time", state.total, state.total_interval(), _PER_CM3, "cm^-3"),
        ("  with the instrument's own errors", None, state.total_interval(true=True), _PER_CM3, "cm^-3"),
    )
    for name, value, interval, unit, symbol in rows:
        if value is not None or not rejected:
            low, high = (v * unit for v in interval)
            between = "" if rejected else f"{_digits(low)} to {_digits(high)} {symbol}"
            table.add_row(name, "" if value is None else f"{_digits(value * unit)} {symbol}", between)
    signal = state.uncertainty.degrees_of_freedom
    table.add_row("degrees of freedom for signal", f"{signal:.1f} of {state.unknown.knots}", "")
    return table


def _comparison(report: Report) -> list[RenderableType]:
    held_out = report.recovery.held_out
    assert held_out is not None
    observations = report.recovery.case.observations
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(f"beside the scan of {_time(observations.start[held_out.scan])}, which was not used")
    for title in ("number", "mean diameter", "shape L1"):
        table.add_column(title, justify="right")
    for c in (held_out.recovered, *held_out.baselines):
        table.add_row(
            c.name, f"{100 * c.number_error:+.1f} %", f"{100 * c.mean_diameter_error:+.1f} %", f"{c.shape_l1:.3f}"
        )
    if report.recovery.adequacy.is_rejected:
        return [table]
    level = f"{100 * report.recovery.state.level:g} %"
    return [table, Text(f"{100 * held_out.coverage:.0f} % of its channels lie in their {level} intervals.")]


def _checks(report: Report) -> list[str]:
    recovery = report.recovery
    minimum, ensemble = recovery.minimum, recovery.ensemble
    starts = len(minimum.start_objectives)
    lines = [f"{minimum.stopping.value} ({minimum.iterations} iterations)"]
    if starts > 1:
        near = int(np.sum(minimum.start_objectives <= minimum.objective + 1.0))
        lines.append(
            f"{near} of {starts} first guesses led to this minimum, and to unknowns that differ by "
            f"{minimum.start_distance:.1g} standard deviations at most."
        )
    if ensemble is not None:
        lines.append(
            f"{ensemble.members} inversions of noisy data scatter {ensemble.ratio:.2f} times as much as the intervals' "
            "part by noise says."
        )
    lines.append(_gradient(report.certificate))
    if report.verification is not None:
        lines.append(_verified(report.verification))
    return lines


def _verified(found: Verification) -> str:
    measured = float(np.abs(found.particles / found.measured - 1.0).max())
    return (
        f"Run forward by {found.boxes} boxes of particles, the recovered state gives the numbers of the scans within "
        f"{100.0 * found.difference:.2g} % of the sectional model's (standard error "
        f"{100.0 * float((found.standard_error / found.particles).max()):.1g} %), and within {100.0 * measured:.2g} % "
        "of those measured."
    )


def _gradient(certificate: Certificate | None) -> str:
    if certificate is None:
        return "The gradient of this problem was not audited."
    error = "" if certificate.error is None else f", to {certificate.error:.1g} of measured slopes"
    return f"The gradient of this very problem was audited: {certificate.verdict}{error}. {certificate.reason}"


def _digits(value: float) -> str:
    """Four significant digits, written out."""
    return f"{float(f'{value:.4g}'):,.0f}" if value >= 1000.0 else f"{value:.4g}"


def _item(sentence: str) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row("-", Text(sentence))
    return grid


def _time(time: Any) -> str:
    return str(time.astype("datetime64[s]"))
