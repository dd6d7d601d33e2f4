"""The command `retrograde`."""

from __future__ import annotations

import signal
import sys

import click

from retrograde.cli.audit import audit
from retrograde.cli.exits import INTERRUPTED, USAGE
from retrograde.cli.explain import explain
from retrograde.cli.lint import lint
from retrograde.cli.output import ReaderGoneError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="retrograde")
def retrograde() -> None:
    """Is the gradient that a Warp program trains on right? If not: why, where, and the smallest fix."""


retrograde.add_command(audit)
retrograde.add_command(explain)
retrograde.add_command(lint)


def main() -> None:
    """Run the command line of this process, and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command with `arguments`; its exit status."""
    try:
        status = retrograde.main(arguments, prog_name="retrograde", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED + signal.SIGINT
    except ReaderGoneError:
        return INTERRUPTED + signal.SIGPIPE
    return status if isinstance(status, int) else 0
