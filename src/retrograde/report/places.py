"""Places in the user's files, as a person at a terminal reads them."""

from __future__ import annotations

import os
from pathlib import Path


def place(file: str, line: int | None) -> str:
    """A file and its line; the file as seen from the working folder where it lies there."""
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        file = os.path.relpath(path)
    return file if line is None else f"{file}:{line}"
