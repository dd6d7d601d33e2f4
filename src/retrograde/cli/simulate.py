"""`retrograde simulate`: a scan carried forward by the model, beside what was measured then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.exits import InputError
from retrograde.cli.output import emit
from retrograde.cli.scans import (
    prepare_folder,
    read_loss_option,
    read_problem_option,
    read_scans,
    scans_in,
    working,
)
from retrograde.cli.times import place_times, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command()
@click.argument("scans", type=click.Path(path_type=Path))
@click.option("--from", "begin", required=True, metavar="TIME", help="Scan to start from.")
@click.option("--to", "end", required=True, metavar="TIME", help="Last scan to predict.")
@click.option("--kernel", type=click.Choice(["brownian"]), default="brownian", show_default=True)
@click.option(
    "--loss",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Loss by `retrograde calibrate`.  [default: none]",
)
@click.option("--problem", type=click.Path(path_type=Path), metavar="FILE.toml", help="Air, particles, sizes, errors.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for simulation.nc.")
def simulate(
    scans: Path, begin: str, end: str, kernel: str, loss: Path | None, problem: Path | None, out: Path | None
) -> int:
    """Carry one scan of SCANS forward, and compare with those that follow it.

    Exit status: 0 done, 3 a file could not be read, 64 usage.
    """
    del kernel
    with working() as progress:
        import numpy as np

        from retrograde.aerosol.inversion.case import Case, air_of
        from retrograde.aerosol.inversion.foresight import foresee
        from retrograde.aerosol.inversion.prescribed import Prescribed

        settings = replace(read_problem_option(problem), starts=1, ensemble=0)
        law, observations = read_loss_option(loss), read_scans(scans)
        start, last = place_times([begin, end], observations.start[0], observations.start[-1])
        first = scans_in(observations, start, start)[:1]
        end_of_scans = int(np.searchsorted(observations.start, last, side="right"))
        following: NDArray[np.intp] = np.arange(int(first[0]) + 1, end_of_scans)
        if following.size == 0:
            raise click.UsageError(
                f"No scan follows that of {shown(observations.start[first[0]])} until {shown(last)}."
            )
        if out is not None:
            prepare_folder(out)
        temperature, pressure = air_of(observations, first, settings)
        prescribed = Prescribed(temperature, pressure, settings.density, law)
        try:
            at: Any = observations.start[first[0]]
            case = Case(observations, at, first, settings, prescribed, following)
            result = foresee(case, progress=progress.show)
        except ValueError as error:
            raise InputError(f"{scans}: {error}") from error
        if out is not None:
            try:
                result.write(out / "simulation.nc")
            except OSError as error:
                raise click.ClickException(f"{out} cannot be written to: {error.strerror or error}.") from error
    emit(result.table())
    return 0
