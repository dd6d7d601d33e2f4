"""`retrograde explain`: the page of a cause."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.markdown import Markdown

from retrograde.cli.output import emit
from retrograde.report.page import page_of


@click.command()
@click.argument("code")
def explain(code: str) -> None:
    """Show the page of the cause CODE: what it is, why it makes a gradient wrong, how to cure it.

    CODE is a code (RG101) or a name (overwritten-input).
    """
    from retrograde.causes.registry import all_causes, find_cause  # imports Warp

    cause = find_cause(code)
    if cause is None:
        known = ", ".join(known.code for known in all_causes())
        raise click.UsageError(f"There is no cause {code}. This version knows {known or 'none'}.")
    page = page_of(cause)
    if sys.stdout.isatty():
        console = Console()
        with console.capture() as capture:
            console.print(Markdown(page))
        page = capture.get()
    emit(page)
