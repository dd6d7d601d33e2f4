"""All causes that this version knows, found by their files."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

import retrograde.causes
from retrograde.causes.base import Cause
from retrograde.causes.intervention import Find, Remark

_PREFIX = "rg"


@cache
def all_causes() -> tuple[Cause, ...]:
    """Every cause of this version, ordered by code.

    A cause is a module `rgNNN_name` of this package with a module-level `CAUSE`.

    Raises:
        TypeError: Such a module has no `CAUSE`, or one that is not a `Cause`.
        ValueError: A module's name and the code of its cause differ.
    """
    names = sorted(module.name for module in pkgutil.iter_modules(retrograde.causes.__path__))
    return tuple(_cause_of(name) for name in names if name.startswith(_PREFIX))


@cache
def all_finders() -> tuple[Find, ...]:
    """The `find` of every cause that looks for suspects, ordered by code."""
    found = (getattr(_module_of(cause), "find", None) for cause in all_causes())
    return tuple(f for f in found if f is not None)


@cache
def all_remarkers() -> tuple[Remark, ...]:
    """The `remark` of every cause that is a remark, ordered by code."""
    found = (getattr(_module_of(cause), "remark", None) for cause in all_causes())
    return tuple(f for f in found if f is not None)


def _module_of(cause: Cause) -> ModuleType:
    name = f"{cause.code}_{cause.name.replace('-', '_')}".lower()
    return importlib.import_module(f"{retrograde.causes.__name__}.{name}")


def find_cause(text: str) -> Cause | None:
    """The cause with this code or name, whatever its case; None where there is none."""
    wanted = text.strip().lower()
    return next((cause for cause in all_causes() if wanted in (cause.code.lower(), cause.name.lower())), None)


def _cause_of(name: str) -> Cause:
    module = importlib.import_module(f"{retrograde.causes.__name__}.{name}")
    cause = getattr(module, "CAUSE", None)
    if not isinstance(cause, Cause):
        raise TypeError(f"{module.__name__} has no CAUSE of type Cause.")
    expected = f"{cause.code}_{cause.name.replace('-', '_')}".lower()
    if name != expected:
        raise ValueError(f"{module.__name__} holds {cause.code} {cause.name}: its file should be {expected}.py.")
    return cause
