"""The one error of readers: which file, where in it, and what is wrong."""

from __future__ import annotations

from pathlib import Path


class FormatError(ValueError):
    """A file cannot be read as measurements.

    The message says what was expected and what was found. Where the file leaves something open, as
    the kind of its numbers, `read` takes it as an argument.

    Attributes:
        path: File; None for a table or dataset in memory.
        line: Line in the file, counted from 1; None where the file has no lines or it concerns all of it.
        column: Cell in the line, counted from 1; None where it concerns the whole line.
        message: What is wrong.
    """

    def __init__(self, path: str | Path | None, line: int | None, column: int | None, message: str) -> None:
        self.path = None if path is None else Path(path)
        self.line, self.column, self.message = line, column, message
        places = [str(path)] if path is not None else []
        places += [f"line {line}"] if line is not None else []
        places += [f"column {column}"] if column is not None else []
        super().__init__(f"{', '.join(places)}: {message}" if places else message)
