"""`retrograde audit`: judge the gradient of a program."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from retrograde.cli.accepting import accepted_codes
from retrograde.cli.exits import INTERRUPTED, status_of
from retrograde.cli.output import emit
from retrograde.cli.progress import Progress
from retrograde.cli.stock import ask_stock
from retrograde.cli.supervise import Interrupted, supervise
from retrograde.gradients.other import OtherGradientsError, read_others
from retrograde.report.comparison import compare
from retrograde.report.evidence import write_evidence
from retrograde.report.json import render_json
from retrograde.report.terminal import render_terminal
from retrograde.request import DISK, LIMIT, MEMORY, AuditRequest
from retrograde.result import Audit

_STDERR = 2
_LATER_FORMATS = ("sarif", "html")
_TERMINAL_WIDTH = 100


@dataclass(frozen=True)
class Baseline:
    """An earlier report.

    Attributes:
        path: Where it lies.
        document: What is in it.
    """

    path: str
    document: dict[str, Any]


def _iterations(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """A positive number, or None for "auto"."""
    if value == "auto":
        return None
    if not (value.isdecimal() and int(value) > 0):
        raise click.BadParameter(f"{value!r} is neither a positive number nor auto.", ctx, param)
    return int(value)


def _finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("Not a finite number.", ctx, param)
    return value


def _baseline(ctx: click.Context, _param: click.Parameter, value: str | None) -> Baseline | None:
    if value is None:
        return None
    from retrograde.report.baseline import BaselineError, read_document  # imports what else is not needed

    try:
        return Baseline(value, read_document(Path(value)))
    except BaselineError as error:
        raise click.UsageError(str(error), ctx) from error


def _against(ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        read_others(Path(value))
    except OtherGradientsError as error:
        raise click.UsageError(str(error), ctx) from error
    return value


def _empty_folder(ctx: click.Context, _param: click.Parameter, value: Path | None) -> Path | None:
    """A folder that is not there yet, or that holds nothing that could be overwritten."""
    if value is None:
        return None
    place = next(folder for folder in (value.absolute(), *value.absolute().parents) if folder.exists())
    if place == value.absolute() and any(place.iterdir()):
        raise click.UsageError(f"{value} is not empty.", ctx)
    if not (place.is_dir() and os.access(place, os.W_OK)):
        raise click.UsageError(f"{value} cannot be written.", ctx)
    return value


def _refuse_formats(ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for name in value:
        if name in _LATER_FORMATS:
            raise click.UsageError(f"The format {name} is not part of this version.", ctx)
    return tuple(dict.fromkeys(value)) or ("terminal",)


@click.command(context_settings={"show_default": True})
@click.option(
    "--iterations", callback=_iterations, default="auto", metavar="N|auto", help="How many iterations to judge."
)
@click.option("--objective", metavar="NAME", help="The loss to judge.  [default: those that backward ran on]")
@click.option("--parameter", "parameters", multiple=True, metavar="NAME", help="A parameter to judge.  [default: all]")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    callback=_finite,
    help=f"Time for the audit.  [default: what it needs, at most {LIMIT:g} s]",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0, min_open=True),
    metavar="GIB",
    default=MEMORY,
    callback=_finite,
    help="Memory for what the program overwrites; a few GiB hold most programs.",
)
@click.option(
    "--disk",
    type=click.FloatRange(min=0),
    metavar="GIB",
    default=DISK,
    callback=_finite,
    help="Room on the disk for what memory does not hold; what fits in neither is computed again.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Seed of the random probes.")
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["terminal", "json", *_LATER_FORMATS]),
    metavar="terminal|json",
    callback=_refuse_formats,
    help="How to report; may be given twice.  [default: terminal]",
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Where to report.")
@click.option(
    "--accept",
    multiple=True,
    metavar="CODE",
    callback=accepted_codes,
    help="Declare a cause intended, such as RG307 for a truncated horizon: it is noted, and no fault.",
)
@click.option(
    "--baseline",
    metavar="OLD.json",
    callback=_baseline,
    help="Compare with an earlier JSON report: causes gone and new, gradients, and losses.",
)
@click.option(
    "--against",
    metavar="REFERENCE.npz",
    callback=_against,
    help="Compare with another implementation's gradients: arrays named as the parameters, NAME@N in iteration N.",
)
@click.option(
    "--stock", is_flag=True, help="Ask Warp's own overwrite tracker and gradcheck_tape too, in runs of their own."
)
@click.option(
    "--evidence",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    callback=_empty_folder,
    help="Leave a script that measures the same slopes again without Retrograde, and the arrays behind every number.",
)
@click.option("-m", "module", metavar="MODULE", help="Audit a module, as `python -m` runs it.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [-- ARGS]...")
def audit(
    iterations: int | None,
    objective: str | None,
    parameters: tuple[str, ...],
    budget: float | None,
    memory: float,
    disk: float,
    seed: int,
    formats: tuple[str, ...],
    output: Path | None,
    accept: tuple[str, ...],
    baseline: Baseline | None,
    against: str | None,
    stock: bool,
    evidence: Path | None,
    module: str | None,
    program: tuple[str, ...],
) -> int:
    """Audit the gradient that SCRIPT trains on. ARGS are its own, and the script is not edited.

    The program runs as it is. The gradient that its optimizer uses is held against measured slopes of the objective;
    if they differ, the report names the fault, the line and the fix.

    \b
    Is it right?              retrograde audit train.py -- --steps 20
    Is it cured?              retrograde audit --format json --output old.json train.py
                              retrograde audit --baseline old.json train.py
    Truncated on purpose?     retrograde audit --accept RG307 train.py
    Does JAX say the same?    retrograde audit --against jax.npz train.py
    Would Warp have told?     retrograde audit --stock train.py
    Show me.                  retrograde audit --evidence folder train.py

    Exit status: 0 right, 1 wrong, 2 undecided, 3 the program could not be run, 4 nothing to check, 64 usage.
    """  # noqa: D301 - the backspace keeps the lines of the examples as they are
    script, args = _split(module, program)
    _check_writable(output)
    request = AuditRequest(
        script,
        module,
        args,
        iterations,
        objective,
        parameters,
        budget,
        seed,
        accept,
        against,
        evidence is not None,
        memory,
        disk,
    )
    to_stdout = output is None and "json" in formats
    progress = Progress(Console(stderr=True))
    try:
        result = supervise(
            request,
            stdout=_STDERR if to_stdout else None,
            progress=progress,
        )
        if stock:
            result = replace(result, stock=ask_stock(request, progress))
    except Interrupted as error:
        return INTERRUPTED + error.signal
    if baseline is not None:
        result = replace(result, comparison=compare(baseline.path, baseline.document, result))
    unwritten = None if evidence is None else _leave_evidence(evidence, result, request)
    _report(result, formats, output)
    if unwritten is not None:
        raise unwritten
    return status_of(result.verdict)


def _split(module: str | None, program: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    if module is not None:
        return None, program
    if not program:
        raise click.UsageError("Which program? Give a script, or a module with -m.")
    return program[0], program[1:]


def _check_writable(output: Path | None) -> None:
    """Refuse a place where no report can be left before the program has run for it."""
    if output is None:
        return
    place = output if output.exists() else output.absolute().parent
    if not os.access(place, os.W_OK):
        raise click.UsageError(f"{output} cannot be written.")


def _leave_evidence(folder: Path, result: Audit, request: AuditRequest) -> click.ClickException | None:
    """Leave the evidence; where it cannot be written, what is to be said of that after the report."""
    try:
        write_evidence(folder, result, request)
    except OSError as error:
        return click.ClickException(f"{folder} cannot be written: {error.strerror}.")
    return None


def _report(result: Audit, formats: tuple[str, ...], output: Path | None) -> None:
    if "json" not in formats:
        if output is None:
            _print_terminal(result, error=False)
        else:
            _write(output, render_terminal(result, width=_TERMINAL_WIDTH, color=False))
        return
    if output is None:
        emit(render_json(result) + "\n")
    else:
        _write(output, render_json(result) + "\n")
    if "terminal" in formats:
        _print_terminal(result, error=output is None)


def _print_terminal(result: Audit, *, error: bool) -> None:
    console = Console(stderr=error)
    color = console.is_terminal and not console.no_color
    width = console.width if console.is_terminal else _TERMINAL_WIDTH
    # On a terminal the program's own words stand right above.
    gap = "\n" if console.is_terminal else ""
    emit(gap + render_terminal(result, width=width, color=color), error=error)


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}.") from error
