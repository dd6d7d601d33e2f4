"""Reads a report that an earlier audit left, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import jsonschema

from retrograde.report.json import SCHEMA_VERSION, Document, schema

LARGEST = 64 << 20
"""Reports of more bytes than this are not read."""


class BaselineError(ValueError):
    """The file is no report of this version; the message says what is wrong with it."""


def read_document(path: Path) -> Document:
    """Read the JSON report that an earlier audit left, whoever wrote it.

    Raises:
        BaselineError: The file cannot be read, is too large, or is no report of this version's schema.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise BaselineError(f"{path} has {size} bytes; reports of more than {LARGEST} are not read.")
        document: Document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(f"{path} is not JSON: {str(error) or 'nested too deeply'}.") from error
    version = cast("Any", document).get("schema") if isinstance(cast("Any", document), dict) else None
    if version != SCHEMA_VERSION:
        said = "it names no schema" if version is None else f"its schema is {version!r}"
        raise BaselineError(f"{path} is no report of schema {SCHEMA_VERSION}: {said}.")
    # Its stubs leave most types unknown.
    library: Any = jsonschema
    wrong: Any = library.exceptions.best_match(library.Draft202012Validator(schema()).iter_errors(document))
    if wrong is not None:
        raise BaselineError(f"{path} is no report: {wrong.json_path}: {_shortened(wrong.message)}.")
    return document


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _shortened(message: str, most: int = 200) -> str:
    return message if len(message) <= most else f"{message[: most - 3]}..."
