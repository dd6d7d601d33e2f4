"""All patterns, found by their files."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import retrograde.lint.patterns
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting


@dataclass(frozen=True)
class Pattern:
    """The source half of a cause.

    Attributes:
        code, name: Of the cause.
        fix: The smallest change.
        looks_for: What it looks for, in words.
        find: Finds it in a file.
    """

    code: str
    name: str
    fix: str
    looks_for: str
    find: Callable[[SourceModule], Iterator[Sighting]]


@cache
def patterns() -> tuple[Pattern, ...]:
    """Every pattern of this version, ordered by code."""
    names = sorted(m.name for m in pkgutil.iter_modules(retrograde.lint.patterns.__path__))
    return tuple(_pattern(name) for name in names if name.startswith("rg"))


def _pattern(name: str) -> Pattern:
    module = importlib.import_module(f"{retrograde.lint.patterns.__name__}.{name}")
    return Pattern(module.CODE, module.NAME, module.FIX, " ".join((module.find.__doc__ or "").split()), module.find)


def pattern_of(code: str) -> Pattern | None:
    """The pattern of a cause, None where it has none."""
    return next((p for p in patterns() if p.code == code), None)
