"""Runs the user's program as `python SCRIPT ARGS` would, in this process."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from dataclasses import dataclass
from types import TracebackType

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(frozen=True)
class Ending:
    """How a program ended.

    Attributes:
        error: What it raised, None where it came to its end or called `sys.exit`.
        status: What it handed to `sys.exit`, None where it did not call it.
    """

    error: BaseException | None = None
    status: object = None


def execute(script: str | None, module: str | None, args: tuple[str, ...]) -> Ending:
    """Run a program to its end.

    Args:
        script: Path of its file, or None.
        module: Dotted name of its module where there is no script.
        args: Its arguments.
    """
    saved_argv, saved_path = sys.argv[:], sys.path[:]
    try:
        if script is not None:
            sys.argv = [script, *args]
            sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
            runpy.run_path(script, run_name="__main__")
        else:
            assert module is not None
            sys.argv = [module, *args]
            sys.path.insert(0, os.getcwd())
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        return Ending(status=stop.code)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Ending(error=error)
    finally:
        sys.argv, sys.path = saved_argv, saved_path
    return Ending()


def show_traceback(error: BaseException) -> None:
    """Print the program's own traceback to standard error, without the frames of the auditor."""
    error.__traceback__ = _without_ours(error.__traceback__)
    traceback.print_exception(error)


def _without_ours(found: TracebackType | None) -> TracebackType | None:
    """Drop leading frames of ours and of `runpy`, and ours in between."""
    if found is None:
        return None
    rest = _without_ours(found.tb_next)
    file = found.tb_frame.f_code.co_filename
    if file.startswith((_OURS, "<frozen")) or os.path.basename(file) in ("runpy.py", "contextlib.py"):
        return rest
    return TracebackType(rest, found.tb_frame, found.tb_lasti, found.tb_lineno)
