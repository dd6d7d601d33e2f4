"""Reader of plain tables: one row a scan, one column a size, as text or as a pandas table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from retrograde.aerosol.formats._assembly import check_total, note_negative, time_order
from retrograde.aerosol.formats._dates import Stamp, resolved_order, stamp
from retrograde.aerosol.formats._table_meaning import COMMENT, Meaning, Sizes, meaning_of, sizes_of, statements_of
from retrograde.aerosol.formats._text import Row, delimiter_of, rows_of
from retrograde.aerosol.formats._values import PRESSURES, decimal_mark, in_unit, kelvin, label, number
from retrograde.aerosol.formats.errors import FormatError
from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.formats.stated import Stated
from retrograde.aerosol.formats.units import concentration_factor
from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]
Times = NDArray[np.datetime64]

_SERIES: Mapping[str, Callable[[float, str], float]] = {
    "total": lambda value, unit: value * concentration_factor(unit),
    "temperature": kelvin,
    "pressure": lambda value, unit: in_unit(value, unit, PRESSURES, "pressure"),
}
"""Columns beside the sizes, and how they come to SI."""


def read_table(path: Path, lines: Sequence[str], stated: Stated) -> Observations:
    """Observations from text whose first column is the time and whose other labels are diameters.

    Lines before the labels that begin with # may state "kind", "concentration unit", "diameter unit",
    "diameter kind" and "density". Diameters may carry their unit, as in "10.5 nm". Where they are in
    metres and nothing is stated, the numbers are dN/dlog10 D in cm^-3. Columns "total [cm-3]",
    "temperature [K]" and "pressure [hPa]" are read too.

    Raises:
        FormatError: There is no such table, it leaves open what its numbers are, or a cell cannot be read.
    """
    first = next((i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(COMMENT)), None)
    if first is None:
        raise FormatError(path, None, None, "the file holds no table")
    rows = [row for row in rows_of(path, lines[first:], delimiter_of(lines[first]), first + 1) if any(row.cells)]
    heads, body = rows[0], rows[1:]
    notes: list[str] = []
    try:
        sizes = sizes_of(heads.cells)
        meaning = meaning_of(statements_of(lines[:first]), sizes, stated, notes)
    except ValueError as error:
        raise FormatError(path, heads.line, None, str(error)) from error
    if not body:
        raise FormatError(path, heads.line, None, "no scans follow")
    for row in body:
        if len(row.cells) != len(heads.cells):
            here = min(len(row.cells), len(heads.cells))
            raise FormatError(path, row.line, here, f"{len(row.cells)} cells under {len(heads.cells)} labels")
    start = _starts(path, body, stated, notes)
    values = _cells(path, body, sizes.columns)
    series = _series(path, heads, body, sizes, notes)
    return _observations(path, f"{path.name}, table", start, (sizes, values, series), meaning, notes)


def from_frame(frame: pd.DataFrame, stated: Stated | None = None) -> Observations:
    """Observations from a table with times as index and diameters as columns.

    `frame.attrs` may state what the comment lines of a text may; other columns are left out.

    Raises:
        FormatError: The index holds no times, or as `read_table`.
    """
    notes: list[str] = []
    index = frame.index
    if not isinstance(index, pd.DatetimeIndex) or len(index) == 0 or index.hasnans:
        raise FormatError(None, None, None, f"index: expected times without gaps, got {index.dtype}")
    if index.tz is not None:
        notes.append("Times are in UTC.")
        index = index.tz_convert("UTC").tz_localize(None)
    statements = {str(k).lower().replace("_", " "): str(v) for k, v in frame.attrs.items() if v is not None}
    try:
        sizes = sizes_of(["time", *(str(name) for name in frame.columns)])
        meaning = meaning_of(statements, sizes, stated or Stated(), notes)
        values = frame.iloc[:, [column - 1 for column in sizes.columns]].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FormatError(None, None, None, str(error)) from error
    start = np.asarray(index.to_numpy(), dtype="datetime64[ns]")
    return _observations(None, "pandas table", start, (sizes, values, {}), meaning, notes)


def _observations(
    path: Path | None,
    source: str,
    start: Times,
    content: tuple[Sizes, Floats, Mapping[str, Floats]],
    meaning: Meaning,
    notes: list[str],
) -> Observations:
    sizes, values, series = content
    try:
        diameters = sizes.values * meaning.length
        grid = SizeGrid.from_diameters(diameters)
        numbers = meaning.number(values, grid)
        check_total(path, numbers, series.get("total"), notes)
        note_negative(numbers, notes)
        order = time_order(start, notes)
        notes.append("Bin edges are the geometric means of neighbouring diameters.")
        parts: dict[str, Any] = {name: column[order] for name, column in series.items()}
        return Observations(
            start=start[order],
            times=np.repeat(start[order][:, np.newaxis], diameters.size, axis=1),
            diameters=diameters,
            edges=grid.diameter_edges,
            number=numbers[order],
            density=meaning.density,
            diameter_kind=meaning.diameter_kind,
            source=source,
            notes=tuple(notes),
            **parts,
        )
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(path, None, None, str(error)) from error


def _starts(path: Path, body: Sequence[Row], stated: Stated, notes: list[str]) -> Times:
    stamps: list[Stamp] = []
    for row in body:
        try:
            stamps.append(stamp(row.cells[0]))
        except ValueError as error:
            raise FormatError(path, row.line, 1, str(error)) from error
        if (stamps[-1].zone is None) != (stamps[0].zone is None):
            raise FormatError(path, row.line, 1, "some times have a zone and some have none")
    if stamps[0].zone is not None:
        notes.append("Times are in UTC.")
    try:
        order = resolved_order([s.day for s in stamps], [path.name], stated.date_order, notes)
    except ValueError as error:
        raise FormatError(path, None, 1, str(error)) from error
    times = np.empty(len(stamps), dtype="datetime64[ns]")
    for index, (row, found) in enumerate(zip(body, stamps, strict=True)):
        try:
            times[index] = found.moment(order)
        except ValueError as error:
            raise FormatError(path, row.line, 1, f"{row.cells[0]!r} with the {order}: {error}") from error
    return times


def _cells(path: Path, body: Sequence[Row], columns: Sequence[int]) -> Floats:
    """Numbers of the cells, shape [rows, columns]."""
    mark = decimal_mark(row.cells[column] for row in body for column in columns)
    values = np.empty((len(body), len(columns)))
    for i, row in enumerate(body):
        for j, column in enumerate(columns):
            try:
                values[i, j] = number(row.cells[column], mark)
            except ValueError as error:
                raise FormatError(path, row.line, column + 1, str(error)) from error
    return values


def _series(path: Path, heads: Row, body: Sequence[Row], sizes: Sizes, notes: list[str]) -> dict[str, Floats]:
    """The columns beside the sizes that are known, in SI."""
    found: dict[str, Floats] = {}
    left: list[str] = []
    for column, text in enumerate(heads.cells):
        name, unit = label(text)
        if column == 0 or column in sizes.columns:
            continue
        if name not in _SERIES or name in found:
            left.append(text or f"column {column + 1}")
            continue
        values = _cells(path, body, [column])[:, 0]
        try:
            found[name] = np.array([_SERIES[name](float(value), unit) for value in values])
        except ValueError as error:
            raise FormatError(path, heads.line, column + 1, f"{name}: {error}") from error
    if left:
        notes.append(f"Not read: {', '.join(left[:10])}{', ...' if len(left) > 10 else ''}.")
    return found
