"""Text files of unknown encoding and delimiter, as rows of cells that know their line."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrograde.aerosol.formats.errors import FormatError

LARGEST_TEXT = 256 * 2**20
"""Largest text file that is read [bytes]."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DELIMITERS = "\t;,"


@dataclass(frozen=True)
class Row:
    """Cells of one line.

    Attributes:
        line: Line in the file, counted from 1.
        cells: Texts without surrounding blanks.
    """

    line: int
    cells: tuple[str, ...]

    def cell(self, index: int) -> str:
        """Text of a cell, empty past the end of the line."""
        return self.cells[index] if index < len(self.cells) else ""


def decode(path: Path, data: bytes) -> str:
    """Text of a file: by its byte order mark, as UTF-16 without one, as UTF-8, else as Windows-1252.

    Raises:
        FormatError: The file is too large, or holds bytes that no text does.
    """
    if len(data) > LARGEST_TEXT:
        raise FormatError(path, None, None, f"the file is larger than {LARGEST_TEXT // 2**20} MiB")
    for encoding in _encodings(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise FormatError(path, line, None, "a zero byte; this is no text file")
        return text
    raise FormatError(path, None, None, "the encoding is none of UTF-8, UTF-16 and Windows-1252")


def _encodings(data: bytes) -> tuple[str, ...]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return (encoding,)
    head = data[:4096]
    zeros = head.count(0)
    if zeros * 3 > len(head):
        return ("utf-16-le",) if head[1::2].count(0) * 2 > zeros else ("utf-16-be",)
    return ("utf-8", "cp1252", "latin-1")


def delimiter_of(line: str) -> str:
    """The one of tab, semicolon and comma that separates most cells of `line`.

    A decimal comma is never more frequent than the delimiter: a number has one at most.
    """
    return max(_DELIMITERS, key=line.count)


def rows_of(path: Path, lines: Sequence[str], delimiter: str, first_line: int = 1) -> list[Row]:
    """Rows of cells, quotes taken off; a quoted cell may go over several lines.

    Raises:
        FormatError: A cell is too long, or a quote is not closed.
    """
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    while True:
        line = first_line + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return rows
        except csv.Error as error:
            raise FormatError(path, line, None, f"the cells cannot be told apart: {error}") from error
        rows.append(Row(line, tuple(cell.strip() for cell in cells)))
