"""Loss laws in a TOML file, as `retrograde calibrate` writes it and the other commands read it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, cast

import numpy as np

from retrograde.aerosol.inversion.loss_laws import ENHANCEMENT, CalibratedLoss

_LARGEST_FILE = 1_000_000


class LossFileError(ValueError):
    """A loss file cannot be used; the message names the file and what is wrong."""


def write_loss(path: Path, loss: CalibratedLoss) -> None:
    """Write a law; a person may edit the file, or write one by hand without the last section.

    Raises:
        OSError: The file cannot be written.
    """
    units = {p.name: p.unit for p in loss.form.parameters} | {ENHANCEMENT: "1"}
    lines = [
        "# Loss of particles, prescribed to `retrograde simulate` and `retrograde invert`.",
        f'law = "{loss.law}"',
        "",
        "[parameters]",
        *(f"{name} = {value!r}  # {units[name]}" for name, value in loss.values.items()),
    ]
    if loss.names:
        rows = ",\n".join("  [" + ", ".join(repr(float(v)) for v in row) + "]" for row in loss.covariance)
        lines += [
            "",
            "[calibration]",
            f"source = {_text(loss.source)}",
            f"window = [{_text(loss.window[0])}, {_text(loss.window[1])}]",
            "names = [" + ", ".join(_text(name) for name in loss.names) + "]",
            "# Covariance of the parameters named, of the logarithms of the positive ones.",
            f"covariance = [\n{rows}\n]",
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_loss(path: Path) -> CalibratedLoss:
    """Read what `write_loss` wrote, or a person.

    Raises:
        LossFileError: The file cannot be read, or is not as expected.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise LossFileError(f"{path}: larger than {_LARGEST_FILE} bytes, which no loss file is.")
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LossFileError(f"{path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LossFileError(f"{path}: not TOML: {error}") from error
    try:
        return _loss(document)
    except (ValueError, TypeError) as error:
        raise LossFileError(f"{path}: {error}") from error


def _loss(document: dict[str, Any]) -> CalibratedLoss:
    extra = set(document) - {"law", "parameters", "calibration"}
    if extra:
        raise ValueError(f"{sorted(extra)[0]}: no such key; there are law, parameters, calibration")
    law, parameters = document.get("law"), document.get("parameters")
    if not isinstance(law, str) or not isinstance(parameters, dict):
        raise ValueError('expected law = "..." and a section [parameters]')
    numbers = cast("dict[str, Any]", parameters)
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"[parameters] {name}: expected a number, got {value!r}")
    calibration: Any = document.get("calibration", {})
    if not isinstance(calibration, dict):
        raise ValueError("calibration: expected a section [calibration]")
    section = cast("dict[str, Any]", calibration)
    names = tuple(str(name) for name in section.get("names", ()))
    covariance = np.array(section.get("covariance", np.zeros((0, 0))), dtype=np.float64)
    window = tuple(str(t) for t in section.get("window", ("", "")))
    if len(window) != 2:
        raise ValueError("[calibration] window: expected two times")
    values = {name: float(value) for name, value in numbers.items()}
    return CalibratedLoss(law, values, names, covariance, (window[0], window[1]), str(section.get("source", "")))


def _text(value: str) -> str:
    """A TOML string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else " " for c in escaped) + '"'
