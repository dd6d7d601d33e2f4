"""Looks for patterns in files and folders."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from retrograde.lint.catalogue import Pattern, patterns
from retrograde.lint.comments import ignores_in, without_ignored
from retrograde.lint.module import SourceModule, UnreadableError, read_module
from retrograde.lint.reach import silent_functions
from retrograde.lint.settings import Settings
from retrograde.lint.suspicion import Suspicion


@dataclass(frozen=True)
class LintResult:
    """What was found.

    Attributes:
        suspicions: In order of file and line.
        unreadable: Files that could not be read, each with the reason.
        notes: Comments that do nothing.
        files: Number of files looked at.
        kernels: Number of kernels and device functions in them.
    """

    suspicions: tuple[Suspicion, ...]
    unreadable: tuple[str, ...]
    notes: tuple[str, ...]
    files: int
    kernels: int


def lint(paths: Sequence[Path], settings: Settings) -> LintResult:
    """Look for all wanted patterns in files, and in the Python files of folders."""
    with _uncollected():
        return _look(paths, settings)


@contextmanager
def _uncollected() -> Generator[None]:
    """Keep the collector of cycles away: it goes through all trees again and again, and they are all kept."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _look(paths: Sequence[Path], settings: Settings) -> LintResult:
    wanted = [p for p in patterns() if settings.wants(p.code)]
    suspicions: list[Suspicion] = []
    unreadable: list[str] = []
    notes: list[str] = []
    files = kernels = 0
    modules: list[SourceModule] = []
    for path in dict.fromkeys(f for p in paths for f in _files(p, settings)):
        files += 1
        try:
            module = read_module(path)
            kernels += len(module.devices)
        except UnreadableError as error:
            unreadable.append(f"{path}: {error}")
            continue
        if module.names.bound:
            modules.append(module)
    silent = silent_functions(d for m in modules for d in m.devices)
    for module in modules:
        try:
            found, said = lint_module(module.knowing(silent), wanted)
        except RecursionError:
            unreadable.append(f"{module.path}: nested too deeply")
            continue
        suspicions += found
        notes += said
    return LintResult(tuple(sorted(suspicions)), tuple(unreadable), tuple(notes), files, kernels)


def lint_module(module: SourceModule, wanted: Sequence[Pattern]) -> tuple[list[Suspicion], list[str]]:
    """Suspicions in one file, and notes on comments that do nothing."""
    if not module.names.bound:
        return [], []
    found: dict[tuple[str, int, str], Suspicion] = {}
    for pattern in wanted:
        for sighting in pattern.find(module):
            line = getattr(sighting.node, "lineno", 1)
            column = getattr(sighting.node, "col_offset", 0) + 1
            suspicion = Suspicion(module.path, line, column, pattern.code, pattern.name, sighting.message, pattern.fix)
            found.setdefault((pattern.code, line, sighting.message), suspicion)
    return without_ignored(sorted(found.values()), ignores_in(module), module.path)


def _files(path: Path, settings: Settings) -> Iterator[Path]:
    """A file itself, whatever its name; of a folder, its Python files."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        here = Path(folder)
        folders[:] = sorted(f for f in folders if not settings.leaves_out(here / f))
        yield from (
            here / n for n in sorted(names) if n.endswith((".py", ".pyi")) and not settings.leaves_out(here / n)
        )
