"""`retrograde lint`: source patterns, without a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from retrograde.cli.output import emit
from retrograde.lint.catalogue import patterns
from retrograde.lint.run import lint as look
from retrograde.lint.settings import Settings, SettingsError, codes, read_settings
from retrograde.report.suspicions import to_json, to_text

_FOUND, _UNREADABLE = 1, 3


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--select", multiple=True, metavar="CODES", help="Look for these codes only, or beginnings of codes: RG4."
)
@click.option(
    "--ignore", multiple=True, metavar="CODES", help="Leave these codes out, beside those that the settings do."
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print what is found."
)
@click.option("--list", "listed", is_flag=True, help="Show what is looked for, and end.")
def lint(paths: tuple[Path, ...], select: tuple[str, ...], ignore: tuple[str, ...], form: str, listed: bool) -> int:
    r"""Look for patterns of faults in source files, without running them.

    PATHS are files, or folders whose Python files are looked at. What is found is a suspicion: `retrograde audit`
    runs the program, and confirms or clears it. A comment lets a line pass, with the reason:

    \b
        total *= x[i]  # retrograde: ignore[RG403] the gradient is never taken

    Settings stand in pyproject.toml:

    \b
        [tool.retrograde]
        select = ["RG4"]         # codes, or beginnings of codes
        ignore = ["RG409"]
        exclude = ["vendored"]   # names or paths of files and folders

    Exit status: 0 nothing found, 1 suspicions, 3 a file could not be read, 64 the command line or the settings are
    wrong.
    """
    if listed:
        emit("".join(f"{p.code} {p.name}: {p.looks_for}\n" for p in patterns()))
        return 0
    if not paths:
        raise click.UsageError("Name files or folders to look at, or . for all below this one.")
    missing = next((p for p in paths if not p.exists()), None)
    if missing is not None:
        raise click.UsageError(f"There is no file or folder {missing}.")
    result = look(paths, _settings(paths[0], select, ignore))
    for line in (*result.unreadable, *result.notes):
        emit(f"{line}\n", error=True)
    emit(to_json(result) if form == "json" else to_text(result))
    if result.unreadable:
        return _UNREADABLE
    return _FOUND if result.suspicions else 0


def _settings(start: Path, select: tuple[str, ...], ignore: tuple[str, ...]) -> Settings:
    try:
        settings = read_settings(start)
        if select:
            settings = replace(settings, select=codes(select, "--select"))
        return replace(settings, ignore=(*settings.ignore, *codes(ignore, "--ignore")))
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
