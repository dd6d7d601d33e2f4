"""Exit statuses of the command."""

from __future__ import annotations

import click

from retrograde.result import Verdict

USAGE = 64
"""The command line itself is wrong, or asks for what this version does not have."""

INTERRUPTED = 128
"""Added to the number of the signal that ended the command."""

UNREADABLE = 3
"""A file that was named cannot be used."""


class InputError(click.ClickException):
    """A file that was named cannot be used; the message names it."""


_STATUS = {
    Verdict.RIGHT: 0,
    Verdict.WRONG: 1,
    Verdict.UNDECIDED: 2,
    Verdict.NOT_RUN: 3,
    Verdict.NOTHING_TO_CHECK: 4,
}


def status_of(verdict: Verdict) -> int:
    """The exit status that tells `verdict`."""
    return _STATUS[verdict]
