"""`retrograde lint`: source patterns, without a run."""

from __future__ import annotations

import click


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("paths", nargs=-1, type=click.UNPROCESSED)
def lint(paths: tuple[str, ...]) -> None:
    """Look for patterns of faults in source files, without running them."""
    del paths
    raise click.UsageError("`retrograde lint` is not part of this version. `retrograde audit` runs the program.")
