"""What the commands on measured size distributions share: files, windows, places for results."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from retrograde.cli.exits import InputError
from retrograde.cli.progress import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retrograde.aerosol.formats.observations import Observations
    from retrograde.aerosol.inversion.loss_laws import CalibratedLoss
    from retrograde.aerosol.inversion.settings import Settings

TERMINAL_WIDTH = 100


@contextmanager
def working() -> Generator[Progress]:
    """A quiet Warp, and a line on the terminal that shows what is done.

    Raises:
        click.UsageError: What the aerosol half needs is not installed.
    """
    for needed in ("scipy", "xarray", "h5netcdf", "pandas", "matplotlib"):
        if importlib.util.find_spec(needed) is None:
            raise click.UsageError(
                f'{needed} is not installed; pip install "retrograde[aerosol]" installs what this command needs.'
            )
    from retrograde.aerosol._device import wp

    wp.config.quiet = True
    if hasattr(wp, "LOG_ERROR"):
        wp.config.log_level = wp.LOG_ERROR
    progress = Progress(Console(stderr=True))
    try:
        yield progress
    finally:
        progress.clear()


def read_scans(path: Path) -> Observations:
    """Read a file of any known format.

    Raises:
        InputError: It cannot be read.
    """
    from retrograde.aerosol.formats.errors import FormatError
    from retrograde.aerosol.formats.reading import read

    try:
        return read(path)
    except FormatError as error:
        raise InputError(str(error)) from error


def read_loss_option(path: Path | None) -> CalibratedLoss | None:
    """Read the file of --loss.

    Raises:
        InputError: It cannot be read.
    """
    from retrograde.aerosol.inversion.loss_file import LossFileError, read_loss

    try:
        return None if path is None else read_loss(path)
    except LossFileError as error:
        raise InputError(str(error)) from error


def read_problem_option(path: Path | None) -> Settings:
    """Read the file of --problem.

    Raises:
        InputError: It cannot be read.
    """
    from retrograde.aerosol.inversion.settings import Settings, SettingsError, read_settings

    try:
        return Settings() if path is None else read_settings(path)
    except SettingsError as error:
        raise InputError(str(error)) from error


def scans_in(observations: Observations, start: np.datetime64, end: np.datetime64) -> NDArray[np.intp]:
    """Scans that start in a window, both ends included; of a single time, the scan nearest to it.

    Nearest means within half the usual distance of two scans.

    Raises:
        click.UsageError: There is none.
    """
    import numpy as np

    inside = np.flatnonzero((observations.start >= start) & (observations.start <= end))
    if inside.size:
        return inside
    near = nearest_scan(observations, start) if start == end else None
    if near is not None:
        return np.array([near])
    first, last = (str(observations.start[i].astype("datetime64[s]")) for i in (0, -1))
    raise click.UsageError(
        f"No scan starts from {start.astype('datetime64[s]')!s} to {end.astype('datetime64[s]')!s}; "
        f"those of the file start from {first} to {last}."
    )


def nearest_scan(observations: Observations, time: np.datetime64) -> int | None:
    """The scan whose start is nearest to a time, if within half the usual distance of two scans."""
    import numpy as np

    distance = np.abs(observations.start - time)
    nearest = int(np.argmin(distance))
    usual = np.median(np.diff(observations.start)) if observations.scans > 1 else np.timedelta64(0, "ns")
    return nearest if 2 * distance[nearest] <= usual or distance[nearest] <= np.timedelta64(1, "s") else None


def prepare_folder(path: Path) -> None:
    """Make a folder for results before anything is computed for it.

    Raises:
        click.UsageError: It cannot be made or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"{path} cannot be made: {error.strerror}.") from error
    if not os.access(path, os.W_OK):
        raise click.UsageError(f"{path} cannot be written to.")


def print_text(render: Callable[..., str], subject: Any) -> None:
    """Print what a renderer makes of something, at the terminal's width and colour."""
    from retrograde.cli.output import emit

    console = Console()
    color = console.is_terminal and not console.no_color
    emit(render(subject, width=console.width if console.is_terminal else TERMINAL_WIDTH, color=color))
