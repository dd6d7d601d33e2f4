"""`retrograde calibrate`: the few numbers of a loss law, from scans kept apart for it."""

from __future__ import annotations

from pathlib import Path

import click

from retrograde.cli.exits import InputError
from retrograde.cli.output import emit
from retrograde.cli.scans import read_problem_option, read_scans, scans_in, working
from retrograde.cli.times import place_times, split_window


@click.command()
@click.argument("scans", type=click.Path(path_type=Path))
@click.option("--window", required=True, metavar="TIME..TIME", help="Scans to calibrate on, by their start.")
@click.option(
    "--law",
    type=click.Choice(["constant", "power-law", "eddy"]),
    required=True,
    help="Form of the loss: one rate; a rate and a power of the diameter; dilution and a stirred wall.",
)
@click.option("--enhancement", is_flag=True, help="Calibrate a factor on the coagulation kernel too.")
@click.option("--problem", type=click.Path(path_type=Path), metavar="FILE.toml", help="Air, particles, sizes, errors.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Loss file to write.")
def calibrate(scans: Path, window: str, law: str, enhancement: bool, problem: Path | None, out: Path) -> int:
    """Fit a law of particle loss to scans of SCANS, for `retrograde invert` to be prescribed.

    TIME is ISO 8601, or HH:MM[:SS] on the file's first day.

    Exit status: 0 done, 3 a file could not be read, 64 usage.
    """
    with working() as progress:
        from retrograde.aerosol.inversion.assumptions import describe_loss
        from retrograde.aerosol.inversion.calibration import calibrate as fit
        from retrograde.aerosol.inversion.loss_file import write_loss

        settings = read_problem_option(problem)
        observations = read_scans(scans)
        start, end = place_times(split_window(window), observations.start[0], observations.start[-1])
        chosen = scans_in(observations, start, end)
        try:
            result = fit(observations, chosen, law, settings, enhancement=enhancement, progress=progress.show)
        except ValueError as error:
            raise InputError(f"{scans}: {error}.") from error
    try:
        write_loss(out, result.loss)
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror}.") from error
    lines = [
        f"{describe_loss(result.loss)}",
        f"{chosen.size} scans, {result.loss.window[0]} to {result.loss.window[1]}; their total numbers are met to "
        f"{100 * result.deviation:.1f} %.",
    ]
    deviations = result.loss.covariance.diagonal() ** 0.5
    for name, deviation, share in zip(result.loss.names, deviations, result.prior_share, strict=True):
        relative = f"{100 * deviation:.0f} %" if result.loss.is_positive(name) else f"{deviation:.2g}"
        guessed = "; mostly guessed: the window does not tell it" if share > 0.5 else ""
        lines.append(f"  {name.replace('_', ' ')} is known to {relative}{guessed}")
    if not result.is_converged:
        lines.append("The fit did not come to rest within its limit of iterations.")
    emit("\n".join([*lines, f"written: {out}"]) + "\n")
    return 0
