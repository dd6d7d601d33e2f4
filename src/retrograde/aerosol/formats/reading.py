"""One function that reads any of the formats, which it tells by the content."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pandas as pd
import xarray as xr

from retrograde.aerosol.formats._aim_sheet import key_line
from retrograde.aerosol.formats._netcdf import head_of, is_netcdf, opened
from retrograde.aerosol.formats._text import LARGEST_TEXT, decode
from retrograde.aerosol.formats.aim import read_aim
from retrograde.aerosol.formats.errors import FormatError
from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.formats.spectra import from_spectra
from retrograde.aerosol.formats.stated import Stated
from retrograde.aerosol.formats.table import from_frame, read_table
from retrograde.aerosol.formats.units import SpectrumKind


def read(
    source: str | Path | xr.Dataset | pd.DataFrame,
    *,
    kind: SpectrumKind | None = None,
    concentration_unit: str | None = None,
    diameter_unit: str | None = None,
    variable: str | None = None,
    date_order: Literal["month first", "day first"] | None = None,
) -> Observations:
    """Measured size distributions from a file, dataset or table of any known format.

    Text is a TSI AIM export (versions 9 to 11, scans in rows or in columns) or a plain table; NetCDF is
    one that `Observations.dataset` made, ARM's, or any with a number concentration over time and diameter.
    The format is told by the content, never by the name.

    Args:
        source: File, dataset, or table with times as index and diameters as columns.
        kind: What the numbers count, where the source leaves it open.
        concentration_unit: Unit of the numbers, likewise.
        diameter_unit: Unit of the diameters, likewise.
        variable: Variable of a dataset that holds the numbers, where there are several.
        date_order: Order of day and month, where all dates can be read both ways.

    Raises:
        FormatError: The source cannot be read; the message says where and why.
    """
    stated = Stated(kind, concentration_unit, diameter_unit, variable, date_order)
    if isinstance(source, xr.Dataset):
        return from_spectra(source, None, stated)
    if isinstance(source, pd.DataFrame):
        return from_frame(source, stated)
    path = Path(source)
    if is_netcdf(head_of(path)):
        with opened(path) as dataset:
            return from_spectra(dataset, path, stated)
    lines = decode(path, head_of(path, LARGEST_TEXT + 1)).splitlines()
    key = key_line(lines)
    try:
        return read_table(path, lines, stated) if key is None else read_aim(path, lines, key, stated)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(path, None, None, str(error)) from error
