"""The command `retrograde`."""

from __future__ import annotations

import gc
import signal
import sys

import click

from retrograde.cli.audit import audit
from retrograde.cli.calibrate import calibrate
from retrograde.cli.exits import INTERRUPTED, UNREADABLE, USAGE, InputError
from retrograde.cli.explain import explain
from retrograde.cli.invert import invert
from retrograde.cli.lint import lint
from retrograde.cli.output import ReaderGoneError
from retrograde.cli.simulate import simulate

_UNCOLLECTED = 50_000


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="retrograde")
def retrograde() -> None:
    """Trustworthy gradients of Warp programs, and an aerosol's past recovered with them."""


retrograde.add_command(audit)
retrograde.add_command(calibrate)
retrograde.add_command(explain)
retrograde.add_command(invert)
retrograde.add_command(lint)
retrograde.add_command(simulate)


def main() -> None:
    """Run the command line of this process, and exit."""
    # Libraries make hundreds of thousands of objects that stay; to look through them again and again is of no use.
    gc.set_threshold(_UNCOLLECTED, 50, 100)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command with `arguments`; its exit status."""
    try:
        status = retrograde.main(arguments, prog_name="retrograde", standalone_mode=False)
    except InputError as error:
        error.show()
        return UNREADABLE
    except click.ClickException as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED + signal.SIGINT
    except ReaderGoneError:
        return INTERRUPTED + signal.SIGPIPE
    return status if isinstance(status, int) else 0
