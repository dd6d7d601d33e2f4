"""NetCDF files that nobody vouches for, opened with xarray."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np
import xarray as xr

from retrograde.aerosol.formats.errors import FormatError

LARGEST_DATA = 2**26
"""Most values that a variable may have to be read."""

_ENGINES: dict[bytes, Literal["h5netcdf", "scipy"]] = {b"\x89HDF\r\n\x1a\n": "h5netcdf", b"CDF": "scipy"}


def head_of(path: Path, most: int = 8) -> bytes:
    """The first bytes of a file.

    Raises:
        FormatError: There is no such file, or it cannot be opened.
    """
    try:
        if path.is_file():
            with path.open("rb") as stream:
                return stream.read(most)
        message = "this is no file" if path.exists() else "no such file"
    except (OSError, ValueError) as error:
        message = f"the file cannot be opened: {error}"
    raise FormatError(path, None, None, message)


def is_netcdf(head: bytes) -> bool:
    """Whether a file with these first bytes is NetCDF, of the classic kind or in HDF5."""
    return any(head.startswith(mark) for mark in _ENGINES)


@contextmanager
def opened(path: Path) -> Generator[xr.Dataset]:
    """The dataset; whatever the libraries raise on a damaged file, then or later, becomes a `FormatError`."""
    head = head_of(path)
    engine = next((engine for mark, engine in _ENGINES.items() if head.startswith(mark)), None)
    if engine is None:
        raise FormatError(path, None, None, "this is no NetCDF file")
    untyped: Any = xr
    try:
        if engine == "h5netcdf":
            _check_coordinates(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with untyped.open_dataset(path, engine=engine, decode_timedelta=False) as dataset:
                yield dataset
    except FormatError:
        raise
    except Exception as error:
        raise FormatError(path, None, None, f"the file is damaged or no NetCDF: {error}") from error


def check_size(array: xr.DataArray) -> None:
    """A ValueError if the variable is too large to be read."""
    if array.size > LARGEST_DATA:
        raise ValueError(f"{array.name}: {array.size} values are more than the {LARGEST_DATA} that are read")


def _check_coordinates(path: Path) -> None:
    """Refuse a file that is damaged at its root, or whose coordinates, which xarray reads at once, claim to be huge."""
    untyped: Any = h5py
    with untyped.File(path, "r") as file:
        for name, item in file.items():
            shape = getattr(item, "shape", None) or ()
            if len(shape) < 2 and np.prod(shape, dtype=np.float64) > LARGEST_DATA:
                raise FormatError(path, None, None, f"{name}: more than the {LARGEST_DATA} values that are read")
