"""What is looked for, and where: `[tool.retrograde]` of pyproject.toml, and the command line over it."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_LARGEST = 1 << 20
_KEYS = ("select", "ignore", "exclude")
_ALWAYS_LEFT_OUT = (".*", "__pycache__", "node_modules", "site-packages", "build", "dist")


class SettingsError(Exception):
    """The settings are wrong; the message says where and what to do."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Attributes:
        select: Prefixes of the codes to look for, empty for all that are faults ("RG1" to "RG4") and RG512.
        ignore: Prefixes of codes to leave out.
        exclude: Patterns of file and folder names, or of paths, to leave out.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = field(default=())

    def wants(self, code: str) -> bool:
        """Whether a code is looked for."""
        chosen = code.startswith(self.select) if self.select else code != "RG501"
        return chosen and not (self.ignore and code.startswith(self.ignore))

    def leaves_out(self, path: Path) -> bool:
        """Whether a file or a folder below the given ones is left out."""
        if any(fnmatch.fnmatch(path.name, name) for name in (*_ALWAYS_LEFT_OUT, *self.exclude)):
            return True
        return any(fnmatch.fnmatch(path.as_posix(), pattern) for pattern in self.exclude)


def read_settings(start: Path) -> Settings:
    """Settings of the nearest pyproject.toml at or above a path that has a table `[tool.retrograde]`.

    Raises:
        SettingsError: It cannot be read, or a setting is not what it should be.
    """
    start = start.resolve()
    for folder in (start, *start.parents) if start.is_dir() else start.parents:
        path = folder / "pyproject.toml"
        if path.is_file():
            table = _table(path)
            if table is not None:
                return _settings(table, path)
    return Settings()


def _table(path: Path) -> dict[str, Any] | None:
    try:
        if path.stat().st_size > _LARGEST:
            raise SettingsError(f"{path}: larger than 1 MB")
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from error
    tool: Any = document.get("tool")
    found: Any = tool.get("retrograde") if isinstance(tool, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return found if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _settings(table: dict[str, Any], path: Path) -> Settings:
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise SettingsError(f"{path}: [tool.retrograde] has no setting {unknown[0]!r}; it has {', '.join(_KEYS)}")
    values = {key: _strings(value, key, path) for key, value in table.items()}
    for key in ("select", "ignore"):
        if key in values:
            values[key] = codes(values[key], f"{path}: [tool.retrograde] {key}")
    return Settings(**values)


def _strings(value: Any, key: str, path: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):  # pyright: ignore[reportUnknownVariableType]
        raise SettingsError(f"{path}: [tool.retrograde] {key} must be a list of strings")
    return tuple(str(v) for v in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def codes(given: Sequence[str], where: str) -> tuple[str, ...]:
    """Codes or their beginnings, as given one by one or with commas.

    Raises:
        SettingsError: One of them is the beginning of no code that lint looks for.
    """
    from retrograde.lint.catalogue import patterns

    known = [p.code for p in patterns()]
    found = tuple(c.strip().upper() for text in given for c in text.split(",") if c.strip())
    for code in found:
        if not any(k.startswith(code) for k in known):
            raise SettingsError(f"{where}: lint has no pattern {code}; it has {', '.join(known)}")
    return found
