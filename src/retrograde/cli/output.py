"""Writes what a command has to say."""

from __future__ import annotations

import os
import sys

import click


class ReaderGoneError(Exception):
    """Nobody reads the standard stream any more, as after `| head`."""


def emit(text: str, *, error: bool = False) -> None:
    """Write `text` to standard output (or error); what its encoding lacks becomes a question mark.

    Raises:
        ReaderGoneError: Nobody reads there any more.
        click.ClickException: It cannot be written for another reason, such as a full disk.
    """
    stream = sys.stderr if error else sys.stdout
    encoding = stream.encoding or "utf-8"
    try:
        click.echo(text.encode(encoding, "replace").decode(encoding), nl=False, err=error)
    except OSError as fault:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(fault, BrokenPipeError):
            raise ReaderGoneError from fault
        name = "Standard error" if sys.stderr is stream else "Standard output"
        raise click.ClickException(f"{name} cannot be written: {fault.strerror}.") from fault
