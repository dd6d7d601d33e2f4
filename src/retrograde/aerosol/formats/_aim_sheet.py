"""Layout of TSI AIM exports: header, then one row a scan or one column a scan, brought to one form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrograde.aerosol.formats._text import Row, delimiter_of, rows_of
from retrograde.aerosol.formats._values import Label, decimal_mark, label, number
from retrograde.aerosol.formats.errors import FormatError

_KEYS = {"sample #", "sample no.", "sample number", "scan #", "scan no.", "scan number"}
_HEADER_LINES = 200
_SIZE = re.compile(r"(<?)\s*(\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?$")
_BLOCK = ("diameter midpoint", "midpoint diameter", "aerodynamic diameter", "optical diameter", "diameter")


@dataclass(frozen=True)
class Size:
    """A size bin's label.

    Attributes:
        field: Its index among the fields.
        value: Diameter as written.
        rounding: Half a unit of the last digit written.
        below: Whether it stands for all sizes below, as "<0.523".
    """

    field: int
    value: float
    rounding: float
    below: bool


@dataclass(frozen=True)
class Sheet:
    """An export brought to one form: fields by scan, whatever the orientation.

    Attributes:
        path: File.
        header: Text of each label above the scans.
        fields: Label of each field of a scan.
        rows: Rows of the scans' part, its first one holding the scans' numbers or the fields' labels.
        by_row: Whether one row is one scan.
        mark: Decimal mark.
        block: Label that announces the sizes, as "Diameter Midpoint (nm)".
        sizes: Size bins in the order of the file.
        scans: Indices of the rows or columns that hold scans.
    """

    path: Path
    header: Mapping[str, tuple[Label, str, int]]
    fields: tuple[Label, ...]
    rows: tuple[Row, ...]
    by_row: bool
    mark: str
    block: Label | None
    sizes: tuple[Size, ...]
    scans: tuple[int, ...]

    def text(self, scan: int, field: int) -> str:
        """Text of one field of one scan, empty where the file ends before it."""
        row, column = (scan, field) if self.by_row else (field, scan)
        return self.rows[row].cell(column)

    def error(self, message: str, field: int, scan: int = 0) -> FormatError:
        """An error at a field of a scan, or at the field's label."""
        row, column = (scan, field) if self.by_row else (field, scan)
        return FormatError(self.path, self.rows[row].line, column + 1, message)

    def find(self, *names: str) -> int | None:
        """Index of the first field with one of the names, in the order of the names."""
        for name in names:
            for index, field in enumerate(self.fields):
                if field.name == name:
                    return index
        return None


def key_line(lines: list[str]) -> int | None:
    """Index of the line that begins the scans of an AIM export, None where there is none."""
    for index, line in enumerate(lines[:_HEADER_LINES]):
        first = re.split("[\t;,]", line, maxsplit=1)[0]
        if label(first.strip().strip('"')).name in _KEYS:
            return index
    return None


def sheet_of(path: Path, lines: list[str], key: int) -> Sheet:
    """The export with its scans from line `key` on.

    Raises:
        FormatError: There are no sizes, no scans, or sizes do not increase.
    """
    delimiter = delimiter_of(lines[key])
    header = _header(rows_of(path, lines[:key], delimiter))
    rows = [row for row in rows_of(path, lines[key:], delimiter, key + 1) if any(row.cells)]
    by_row = _SIZE.match(rows[0].cell(1)) is None
    texts = list(rows[0].cells) if by_row else [row.cell(0) for row in rows]
    sizes = _sizes(path, rows, texts, by_row)
    block = label(texts[sizes[0].field - 1])
    scans = _scans(path, rows, by_row)
    if not scans:
        raise FormatError(path, rows[0].line, None, "no scans follow")
    _check_lengths(path, rows, sizes, by_row, len(texts), scans[-1])
    values = (rows[i].cell(s.field) if by_row else rows[s.field].cell(i) for s in sizes for i in scans)
    mark = decimal_mark(values)
    fields = tuple(label(text) for text in texts)
    return Sheet(
        path, header, fields, tuple(rows), by_row, mark, block if block.name.startswith(_BLOCK) else None, sizes, scans
    )


def _header(rows: list[Row]) -> dict[str, tuple[Label, str, int]]:
    """Labels and texts; a row may hold several pairs, and the first of equal labels counts."""
    found: dict[str, tuple[Label, str, int]] = {}
    for row in rows:
        for index in range(0, len(row.cells), 2):
            name = label(row.cells[index])
            if name.name and name.name not in found:
                found[name.name] = (name, row.cell(index + 1), row.line)
    return found


def _sizes(path: Path, rows: list[Row], texts: list[str], by_row: bool) -> tuple[Size, ...]:
    """The longest run of labels that are numbers, which must increase."""
    first, end = _longest_run([_SIZE.match(text) is not None for text in texts])
    if end - first < 2:
        where = "this row" if by_row else "the first column"
        raise FormatError(path, rows[0].line, None, f"no sizes: expected diameters among the labels of {where}")
    mark = decimal_mark(texts[first:end])
    sizes: list[Size] = []
    for field, text in enumerate(texts):
        line, column = (rows[0].line, field + 1) if by_row else (rows[field].line, 1)
        if not first <= field < end:
            if field > 0 and _SIZE.match(text):
                raise FormatError(path, line, column, f"a size, {text}, apart from the others")
            continue
        value = number(text.lstrip("< "), mark)
        if value <= 0.0 or (sizes and value <= sizes[-1].value and not sizes[-1].below):
            raise FormatError(path, line, column, f"sizes do not increase: {text} after {texts[field - 1]}")
        sizes.append(Size(field, value, _rounding(text, mark), text.startswith("<")))
    return tuple(sizes)


def _rounding(text: str, mark: str) -> float:
    """Half a unit of the last digit of a plain number."""
    _, _, decimals = text.partition(mark)
    return 0.5 * 10.0 ** -len(decimals) if decimals.isdigit() or not decimals else 0.0


def _check_lengths(
    path: Path, rows: list[Row], sizes: tuple[Size, ...], by_row: bool, labels: int, last_scan: int
) -> None:
    """Refuse rows that end among the numbers, or right after one that may be cut short."""
    if by_row:
        needed, those = min(sizes[-1].field + 2, labels), rows[1:]
    else:
        needed, those = last_scan + 1, [rows[size.field] for size in sizes]
    for row in those:
        if len(row.cells) < needed:
            raise FormatError(path, row.line, len(row.cells), f"the row ends here, before cell {needed}")


def _longest_run(those: list[bool]) -> tuple[int, int]:
    best, start = (0, 0), 0
    for index, wanted in enumerate([*those, False]):
        if not wanted:
            best = max(best, (start, index), key=lambda run: run[1] - run[0])
            start = index + 1
    return best


def _scans(path: Path, rows: list[Row], by_row: bool) -> tuple[int, ...]:
    if by_row:
        for row in rows[1:]:
            if not row.cell(0):
                raise FormatError(path, row.line, 1, "the number of the scan is missing")
        return tuple(range(1, len(rows)))
    return tuple(index for index, text in enumerate(rows[0].cells) if index > 0 and text)
