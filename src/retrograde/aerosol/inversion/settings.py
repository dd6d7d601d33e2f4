"""What a user may set about an inversion, and the file that it is read from."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol.inversion.errors import ErrorSizes

_LARGEST_FILE = 1_000_000


class SettingsError(ValueError):
    """A problem file cannot be used; the message names the file and the key."""


@dataclass(frozen=True)
class Settings:
    """Everything about an inversion that has a default.

    Attributes:
        temperature: Temperature [K]; None for the file's, or 296 K.
        pressure: Pressure [Pa]; None for the file's, or 101325 Pa.
        density: Particle density [kg m^-3].
        smallest: Smallest diameter used [m]; None for the file's.
        largest: Largest diameter used [m]; None for the file's.
        knots_per_decade: Unknowns per decade of diameter.
        strength: "gcv", "l-curve" or the strength of the smoothness prior itself.
        solver: "levenberg-marquardt" or "l-bfgs-b".
        starts: First guesses tried, all as boxes of one search.
        ensemble: Inversions of noisy data that the intervals are checked against; 0 for none.
        seed: Seed of random numbers.
        level: Probability of an interval to hold the truth.
        errors: Sizes of the errors.
    """

    temperature: float | None = None
    pressure: float | None = None
    density: float = 1200.0
    smallest: float | None = None
    largest: float | None = None
    knots_per_decade: float = 16.0
    strength: str | float = "gcv"
    solver: str = "levenberg-marquardt"
    starts: int = 4
    ensemble: int = 64
    seed: int = 0
    level: float = 0.95
    errors: ErrorSizes = field(default_factory=ErrorSizes)

    def __post_init__(self) -> None:
        for name, unit in (("temperature", "K"), ("pressure", "Pa"), ("smallest", "m"), ("largest", "m")):
            value = getattr(self, name)
            if value is not None:
                check_positive(name, value, unit)
        check_positive("density", self.density, "kg m^-3")
        check_positive("knots_per_decade", self.knots_per_decade, "1")
        if isinstance(self.strength, str):
            if self.strength not in ("gcv", "l-curve"):
                raise ValueError(f'strength: expected "gcv", "l-curve" or a number, got {self.strength!r}')
        else:
            check_positive("strength", self.strength, "1")
        if self.solver not in ("levenberg-marquardt", "l-bfgs-b"):
            raise ValueError(f'solver: expected "levenberg-marquardt" or "l-bfgs-b", got {self.solver!r}')
        if self.starts < 1 or self.ensemble < 0 or self.seed < 0:
            raise ValueError("starts, ensemble, seed: expected at least 1, 0 and 0")
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level: expected a probability between 0 and 1, got {self.level}")


_SECTIONS = {
    "air": {"temperature": "temperature", "pressure": "pressure"},
    "particles": {"density": "density"},
    "sizes": {"smallest": "smallest", "largest": "largest", "knots_per_decade": "knots_per_decade"},
    "prior": {"strength": "strength"},
    "solver": {"method": "solver", "starts": "starts", "ensemble": "ensemble", "seed": "seed", "level": "level"},
}
_COUNTS = ("starts", "ensemble", "seed")
_WORDS = ("strength", "solver")


def read_settings(path: Path) -> Settings:
    """Settings from a TOML file; what it does not name keeps its default.

    Raises:
        SettingsError: The file cannot be read, or a key is unknown or out of range.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise SettingsError(f"{path}: larger than {_LARGEST_FILE} bytes, which no problem file is.")
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not TOML: {error}") from error
    try:
        return _settings(document)
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from error


def _settings(document: dict[str, Any]) -> Settings:
    values: dict[str, Any] = {}
    for section, content in document.items():
        if section == "errors":
            values["errors"] = ErrorSizes(**_numbers(section, content, {f.name: f.name for f in fields(ErrorSizes)}))
        elif section in _SECTIONS:
            values |= _numbers(section, content, _SECTIONS[section])
        else:
            raise ValueError(f"[{section}]: no such section; there are {', '.join([*_SECTIONS, 'errors'])}")
    return Settings(**values)


def _numbers(section: str, content: Any, keys: dict[str, str]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError(f"{section}: expected a section [{section}]")
    result: dict[str, Any] = {}
    table = cast("dict[str, Any]", content)
    for key, value in table.items():
        if key not in keys:
            raise ValueError(f"[{section}] {key}: no such key; there are {', '.join(keys)}")
        name = keys[key]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in _WORDS and isinstance(value, str):
            result[name] = value
        elif not is_number or (name in _COUNTS and not isinstance(value, int)):
            raise ValueError(
                f"[{section}] {key}: expected {'a whole' if name in _COUNTS else 'a'} number, got {value!r}"
            )
        else:
            result[name] = value if name in _COUNTS else float(value)
    return result
