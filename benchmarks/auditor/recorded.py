"""Runs a program with every call of Warp recorded, and nothing judged: `python recorded.py PROGRAM ARGS`."""

from __future__ import annotations

import runpy
import sys

from retrograde.trace.observer import Observer
from retrograde.trace.recorder import Recorder


def main() -> None:
    """Record the program named on the command line."""
    recorder = Recorder(lambda _: None)
    observer = Observer(recorder)
    observer.install()
    try:
        sys.argv = sys.argv[1:]
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        observer.remove()
    if recorder.failure is not None:
        raise RuntimeError(recorder.failure)
    print(f"{len(recorder.operations)} operations recorded", file=sys.stderr)


if __name__ == "__main__":
    main()
