"""`retrograde invert`: what the instrument would have seen earlier."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retrograde.cli.exits import INTERRUPTED, InputError
from retrograde.cli.scans import (
    nearest_scan,
    prepare_folder,
    print_text,
    read_loss_option,
    read_problem_option,
    read_scans,
    scans_in,
    working,
)
from retrograde.cli.times import place_times, shown, split_window

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retrograde.aerosol.formats.observations import Observations
    from retrograde.aerosol.inversion.case import Case
    from retrograde.aerosol.inversion.loss_laws import CalibratedLoss
    from retrograde.aerosol.inversion.settings import Settings
    from retrograde.aerosol.inversion.summary import Report

REJECTED = 2
"""Exit status where the model does not hold over the time in question."""


@click.command()
@click.argument("scans", type=click.Path(path_type=Path))
@click.option("--at", required=True, metavar="TIME", help="When to recover the aerosol.")
@click.option(
    "--from", "window", required=True, metavar="TIME[..TIME]", help="Scans to recover it from, by their start."
)
@click.option("--kernel", type=click.Choice(["brownian"]), default="brownian", show_default=True)
@click.option(
    "--loss",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Loss by `retrograde calibrate`.  [default: none]",
)
@click.option("--no-audit", is_flag=True, help="Do not have the gradient of this problem audited.")
@click.option(
    "--verify-particles", is_flag=True, help="Run the recovered state forward by 1,000 boxes of particles as well."
)
@click.option(
    "--problem",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Air, particles, sizes, prior, solver, errors.",
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the results.")
def invert(
    scans: Path,
    at: str,
    window: str,
    kernel: str,
    loss: Path | None,
    no_audit: bool,
    verify_particles: bool,
    problem: Path | None,
    out: Path,
) -> int:
    """Recover the aerosol of an earlier TIME from later scans of SCANS.

    TIME is ISO 8601, or HH:MM[:SS] on the file's first day, or on the next where their order demands
    it. What happened in between is prescribed: coagulation, and the loss of --loss. The result is
    recovery.nc, recovery.png, recovery.svg and summary.json in the folder.

    Exit status: 0 recovered, 2 the model does not hold there (files written, no intervals), 3 a file
    could not be read, 64 usage.
    """
    del kernel
    with working() as progress:
        from retrograde.aerosol.inversion.recovering import recover
        from retrograde.aerosol.inversion.summary import Report, render_summary
        from retrograde.cli.supervise import Interrupted

        settings, law = read_problem_option(problem), read_loss_option(loss)
        observations = read_scans(scans)
        first, last = observations.start[0], observations.start[-1]
        time, start, end = place_times([at, *split_window(window)], first, last)
        prepare_folder(out)
        try:
            case, held_out, remarks = make_case(observations, time, start, end, law, settings)
            resume = out / "unfinished.npz"
            recovery = recover(case, held_out=held_out, progress=progress.show, resume=resume)
        except ValueError as error:
            raise InputError(f"{scans}: {error}") from error
        certificate = None
        if not no_audit:
            from retrograde.cli.certify import certify

            progress.show("auditing the gradient")
            try:
                certificate = certify(recovery, progress)
            except Interrupted as error:
                return INTERRUPTED + error.signal
        verification = None
        if verify_particles:
            from retrograde.aerosol.inversion.verification import verify_by_particles

            progress.show("running particles forward")
            verification = verify_by_particles(recovery)
        report = Report(recovery, certificate, remarks, verification)
        _write(report, out)
        resume.unlink(missing_ok=True)
    print_text(render_summary, report)
    return REJECTED if recovery.adequacy.is_rejected else 0


def make_case(
    observations: Observations,
    at: np.datetime64,
    start: np.datetime64,
    end: np.datetime64,
    loss: CalibratedLoss | None,
    settings: Settings,
) -> tuple[Case, int | None, tuple[str, ...]]:
    """The case of a command line, the scan to compare with, and what to remark.

    Raises:
        click.UsageError: No scan lies in the window, or none after the time to recover.
    """
    import numpy as np

    from retrograde.aerosol.inversion.case import Case, air_of
    from retrograde.aerosol.inversion.disturbances import disturbed_scans
    from retrograde.aerosol.inversion.prescribed import Prescribed

    wanted = scans_in(observations, start, end)
    seen = wanted[observations.times[wanted].max(axis=1) > at]
    if seen.size == 0:
        raise click.UsageError(f"No scan to recover from lies after {shown(at)}.")
    held_out = nearest_scan(observations, at)
    first = np.searchsorted(observations.start, at)
    span: NDArray[np.intp] = np.arange(int(min(first, seen[0])), int(seen[-1]) + 1)
    if held_out is not None:
        span = np.union1d(span, [held_out])
    disturbed = disturbed_scans(observations, span)
    remarks: list[str] = []
    if start == end and observations.start[wanted[0]] != start:
        remarks.append(f"No scan starts at {shown(start)}; the one of {shown(observations.start[wanted[0]])} is taken.")
    kept = np.setdiff1d(seen, disturbed)
    if kept.size == 0:
        kept, disturbed = seen, np.setdiff1d(disturbed, seen)
    if disturbed.size:
        listed = ", ".join(shown(observations.start[i])[11:] for i in disturbed[:12])
        more = f" and {disturbed.size - 12} more" if disturbed.size > 12 else ""
        remarks.append(
            f"Scans whose number rises above an earlier level, which nothing prescribed can do, are set aside: "
            f"{listed}{more}."
        )
    watched = np.setdiff1d(span, np.union1d(kept, disturbed))
    if held_out is not None and held_out in kept:
        held_out = None
    if held_out is not None:
        watched = np.union1d(watched, [held_out])
    law, overlap = _widened(observations, loss, kept)
    remarks += overlap
    temperature, pressure = air_of(observations, kept, settings)
    prescribed = Prescribed(temperature, pressure, settings.density, law)
    return Case(observations, at, kept, settings, prescribed, watched), held_out, tuple(remarks)


def _widened(
    observations: Observations, loss: CalibratedLoss | None, seen: NDArray[np.intp]
) -> tuple[CalibratedLoss | None, list[str]]:
    """The law, less certain where it was calibrated on scans that are inverted too."""
    import numpy as np

    if loss is None or not loss.window[0]:
        return loss, []
    begin, end = (np.datetime64(t) for t in loss.window)
    starts = observations.start[seen]
    if not np.any((starts >= begin) & (starts <= end)):
        return loss, []
    remark = (
        "The loss was calibrated on scans that are inverted too; its standard deviations are doubled, and the "
        "intervals are wider for it."
    )
    return replace(loss, covariance=4.0 * loss.covariance), [remark]


def _write(report: Report, out: Path) -> None:
    from retrograde.aerosol.inversion.figures import write_page
    from retrograde.aerosol.inversion.recovery_file import write_recovery
    from retrograde.aerosol.inversion.summary import summarise

    try:
        write_recovery(out / "recovery.nc", report.recovery)
        write_page(report.recovery, [out / "recovery.png", out / "recovery.svg"])
        text = json.dumps(summarise(report), indent=2, allow_nan=False)
        (out / "summary.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written to: {error.strerror or error}.") from error
